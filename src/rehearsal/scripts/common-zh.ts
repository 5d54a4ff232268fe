import { saidIn, type CommonScript } from "./script.ts";

const list = (prompts: readonly string[]): string => prompts.map((prompt) => `- ${prompt}`).join("\n");

const WHO = ["点灯人", "老船长", "园丁", "值夜的护士", "退休的钟表匠"];
const WHERE = ["在码头边", "在铁路桥下", "在空荡的集市里", "在果园尽头"];
const DID = [
  "等着涨潮，数着归来的船",
  "记下每一个声音和它的时辰",
  "发现了一扇被刷过两遍漆的门",
  "问了同样的问题，得到了不同的回答",
  "把地图折反了，却走对了路",
  "守住了一个诺言，忘了另一个",
  "听见钟声在整点之前停了下来",
];

export const COMMON_ZH: CommonScript = {
  greeting: /^(?:你好|您好|嗨|早上好|下午好|晚上好|帮助|你会什么|你能做什么)/u,
  story: /长故事|讲(?:一个|个)?.{0,6}故事/u,
  welcome: (prompts) => `你好！我是排练模型：照着剧本说话，只会几句。试试这些：\n${list(prompts)}`,
  unknown: (said, prompts) => `你说的是：“${said}”。我只是照剧本说话的模型，不会这一句。我会这些：\n${list(prompts)}`,
  backAgain: "谢谢，我回来了。接下来要做什么？",
  tale: () =>
    Array.from({ length: 70 }, (_, night) => {
      const who = WHO[night % WHO.length];
      const where = WHERE[night % WHERE.length];
      return `第${night + 1}夜，${who}${where}${DID[(night * 3) % DID.length]}。`;
    }).join(""),
  failed: ({ code, message }, what) => {
    switch (code) {
      case "rejected":
        return `没有执行：${what}被拒绝了${saidIn(message, "：")}。`;
      case "expired":
        return `没有执行：没有人按时对${what}作出决定。`;
      case "cancelled":
        return `没有执行：${what}已被取消。`;
      case "outcome_unknown":
        return `我不知道${what}是否已经发生：可能发生了，也可能没有。我不会再试一次，请核实。`;
      case "scope_missing":
        return `我不能这样做：${what}需要你的登录所没有的权限。`;
      default:
        return `没有成功：${what}失败了（${code}）。${message}`;
    }
  },
  notOffered: (tool) => `我在这里做不到：你的登录没有给我 ${tool} 这个工具。`,
};
