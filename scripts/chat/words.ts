/** The terminal client's own words, in both languages of the product. */
export interface Words {
  readonly you: string;
  readonly hint: string;
  readonly unreachable: (url: string) => string;
  readonly notStopped: string;
  readonly running: (tool: string) => string;
  readonly done: (text: string) => string;
  readonly failed: (text: string) => string;
  readonly confirm: string;
  readonly choices: string;
  readonly unknownChoices: string;
  readonly editPrompt: string;
  readonly reasonPrompt: string;
  readonly notJson: string;
  readonly expires: (at: string) => string;
  readonly cancelling: string;
  readonly ended: (status: string, code: string) => string;
  readonly reconnecting: string;
  readonly reconnected: string;
  readonly others: (count: number) => string;
  readonly none: string;
  readonly bye: string;
  readonly queued: (position: number) => string;
  readonly unknown: string;
  readonly irreversible: string;
}

export const WORDS: Record<"en" | "zh", Words> = {
  en: {
    you: "you",
    hint: "Type a message. /pending lists what waits for you elsewhere, /new begins anew, /quit leaves. Ctrl-C stops the run.",
    unreachable: (url) => `${url} does not answer. Is \`npm start\` running?`,
    notStopped: "The run was not stopped.",
    running: (tool) => `⚙ ${tool} …`,
    done: (text) => `✓ ${text}`,
    failed: (text) => `✗ ${text}`,
    confirm: "This needs your yes:",
    choices: "[a]pprove  [e]dit  [r]eject > ",
    unknownChoices: "Did it happen?  [y]es  [n]o, run it again  [g]ive up > ",
    editPrompt: "new arguments (JSON) > ",
    reasonPrompt: "reason (may be empty) > ",
    notJson: "That is not a JSON object.",
    expires: (at) => `expires ${at}`,
    cancelling: "stopping …",
    ended: (status, code) => `— ${status} (${code})`,
    reconnecting: "(connection lost, coming back …)",
    reconnected: "(connected again, nothing was missed)",
    others: (count) =>
      `${count} decision${count === 1 ? "" : "s"} wait${count === 1 ? "s" : ""} for you in other conversations: /pending`,
    none: "Nothing waits for you.",
    bye: "The conversation stays; come back with",
    queued: (position) => `queued, position ${position}`,
    unknown: "The outcome of this call is unknown: it may or may not have happened.",
    irreversible: "(not reversible)",
  },
  zh: {
    you: "你",
    hint: "输入消息。/pending 列出其他会话中等待你的事项，/new 新建会话，/quit 退出。Ctrl-C 停止当前运行。",
    unreachable: (url) => `${url} 没有应答。\`npm start\` 在运行吗？`,
    notStopped: "运行没有被停止。",
    running: (tool) => `⚙ ${tool} …`,
    done: (text) => `✓ ${text}`,
    failed: (text) => `✗ ${text}`,
    confirm: "需要你的确认：",
    choices: "[a]批准  [e]修改  [r]拒绝 > ",
    unknownChoices: "它发生了吗？  [y]是  [n]没有，重新执行  [g]放弃 > ",
    editPrompt: "新参数（JSON）> ",
    reasonPrompt: "原因（可留空）> ",
    notJson: "这不是 JSON 对象。",
    expires: (at) => `截止 ${at}`,
    cancelling: "正在停止 …",
    ended: (status, code) => `— ${status}（${code}）`,
    reconnecting: "（连接中断，正在恢复 …）",
    reconnected: "（已重新连接，没有遗漏）",
    others: (count) => `其他会话中有 ${count} 项等待你决定：/pending`,
    none: "没有等待你的事项。",
    bye: "会话已保留，可用此命令返回",
    queued: (position) => `排队中，第 ${position} 位`,
    unknown: "此调用的结果未知：可能已经发生，也可能没有。",
    irreversible: "（不可撤销）",
  },
};
