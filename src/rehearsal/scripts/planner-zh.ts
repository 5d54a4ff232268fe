import type { PlannerScript } from "./script.ts";

const quoted = (titles: readonly string[]): string => titles.map((title) => `“${title}”`).join("、");

export const PLANNER_ZH: PlannerScript = {
  prompts: [
    "列出我的计划",
    "创建一个计划，叫做春天去京都",
    "请帮我创建一个学大提琴的计划",
    "创建计划“买油漆”和“刷篱笆”",
    "把计划买油漆改名为买绿油漆",
    "给计划买油漆添加备注：两升",
    "删除计划买油漆",
    "讲一个长故事",
  ],
  patterns: {
    list: /(?:列出|查看|看看|看一下|显示|有哪些|有什么).*计划|我的计划/u,
    create: /(?:创建|新建|建立|制定|制订|添加|增加|拟定|做|写|建|加).*计划/u,
    called: /(?:叫做?|名为|名叫|名字是|标题是|标题为)\s*[:：]?\s*(.+)$/u,
    createTwo: /(?:创建|新建|添加)(?:两个)?计划\s*(.+?)\s*(?:和|与|以及)\s*(.+)$/u,
    rename: /(?:把|将)计划\s*(.+?)\s*(?:改名为|改名成|重命名为|改成|改为)\s*(.+)$/u,
    note: /(?:给|为)计划\s*(.+?)\s*(?:添加|加上|加)(?:一条|一个)?备注\s*[:：]\s*(.+)$/u,
    remove: /(?:删除|删掉|移除)(?:我的)?计划\s*(.+)$/u,
  },
  looking: "我看一下你的计划。",
  proposing: "已经准备好，请确认。",
  plans: (titles) => (titles.length === 0 ? "你还没有计划。" : `你有 ${titles.length} 个计划：${quoted(titles)}。`),
  created: (title) => `好了：计划“${title}”已保存。`,
  changed: (title) => `好了：计划“${title}”已修改。`,
  removed: (title) => `好了：计划“${title}”已删除。`,
  notFound: (wanted, titles) =>
    titles.length === 0
      ? `没有找到计划“${wanted}”：你还没有计划。`
      : `没有找到计划“${wanted}”。你的计划有：${quoted(titles)}。`,
  several: (wanted, titles) => `有不止一个计划符合“${wanted}”：${quoted(titles)}。你指的是哪一个？`,
  theList: "查看计划列表",
  creating: (title) => `创建计划“${title}”`,
  changing: (title) => `修改计划“${title}”`,
  removing: (title) => `删除计划“${title}”`,
};
