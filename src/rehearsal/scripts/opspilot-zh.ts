import type { OpspilotScript } from "./script.ts";

const NAME = "[A-Za-z][A-Za-z0-9_-]*";

export const OPSPILOT_ZH: OpspilotScript = {
  prompts: [
    "各个服务怎么样？",
    "商店出问题了，请修复",
    "checkout 为什么出故障？",
    "重启 checkout",
    "把 checkout 的 cache_max_mb 设为 128",
    "为 checkout 创建一个事件：内存用尽",
    "讲一个长故事",
  ],
  patterns: {
    list: /(?:列出|查看|看看|看一下|显示|有哪些|各个|所有).*服务|服务.*(?:怎么样|状态|情况)/u,
    mend: new RegExp(
      `(?:修复|修好|修理|恢复)(?:服务)?\\s*(?<service>${NAME})|修复|修好|修理|恢复|出问题|出了问题`,
      "u",
    ),
    explain: new RegExp(
      `(?<service>${NAME})\\s*(?:服务)?(?:为什么|怎么了|怎么回事|出了什么|的日志)|(?:查看|看看|看一下|读取)(?:服务)?\\s*(?<named>${NAME})`,
      "u",
    ),
    restart: new RegExp(`(?:重启|重新启动)(?:一下)?(?:服务)?\\s*(?<service>${NAME})`, "u"),
    set: new RegExp(
      `(?:把|将)\\s*(?:服务)?\\s*(?<service>${NAME})\\s*的\\s*(?<key>\\S+?)\\s*(?:设为|设置为|设成|改为|改成|调为|调到)\\s*(?<value>.+)$`,
      "u",
    ),
    incident: new RegExp(
      `(?:为|给|对)\\s*(?:服务)?\\s*(?<service>${NAME})\\s*(?:创建|新建|提交|开)(?:一个|一条)?(?:(?<severity>低|高|严重)级别的?)?事件\\s*[:：]\\s*(?<title>.+)$`,
      "u",
    ),
  },
  severities: new Map([
    ["低", "low"],
    ["高", "high"],
    ["严重", "critical"],
  ]),
  health: { healthy: "正常", degraded: "变慢", failing: "故障", restarting: "正在重启" },
  looking: "我看一下各个服务。",
  services: (each) =>
    each.length === 0 ? "没有服务。" : `${each.map(({ id, health }) => `${id} ${health}`).join("，")}。`,
  allWell: "所有服务都正常，没有需要修复的。",
  reading: (service, health) => `${service} ${health}。我读一下它的日志。`,
  logs: (service, lines) =>
    lines.length === 0
      ? `${service} 的日志里没有警告。`
      : `${service} 的日志写着：\n${lines.map((line) => `- ${line}`).join("\n")}`,
  proposing: "已经准备好，请确认。",
  proposeRestart: (service) => `我建议重启 ${service}，让它恢复响应。请确认。`,
  reason: "它没有响应，原因见日志。",
  restarted: (service, health) => `好了：${service} 已重启${health === null ? "" : `，现在${health}`}。`,
  proposeSetting: (service, name, value, recommended) =>
    `但原因还在：${service} 的 ${name} 是 ${value}。我建议改为 ${recommended}。请确认。`,
  set: (service, name, before, after) =>
    `好了：${service} 的 ${name} 已${before === null ? "" : `从 ${before} `}改为 ${after}。`,
  opened: (id, title) => `好了：已创建${id === null ? "事件" : ` ${id}`}：“${title}”。`,
  sayToRestart: (service) => `如果要我重启它，请说：重启 ${service}`,
  sayToSet: (service, name, value) => `要消除原因，请说：把 ${service} 的 ${name} 设为 ${value}`,
  theServices: "查看服务列表",
  lookingAt: (service) => `查看 ${service}`,
  restarting: (service) => `重启 ${service}`,
  setting: (service, name) => `修改 ${service} 的 ${name}`,
  opening: (title) => `创建事件“${title}”`,
};
