/** The planner's part of the transcript: lines that a person types, in both languages. Data, no rules. */
import type { Scene } from "./scene.ts";

const agent = "planner";

export const PLANNER_EN: readonly Scene[] = [
  {
    agent,
    title: "Planner: a read needs no yes, a write does",
    says: "The person's whole sentence goes to the model; what is shown for confirmation is a title, and what is shown is what runs.",
    lines: ["hello", "List my plans", "Please create a plan to learn the cello", "a", "List my plans"],
  },
  {
    agent,
    title: "Planner: two calls in one answer, decided one by one",
    says: "Nothing runs until both are decided. A rejection's reason goes to the model.",
    lines: ['Create plans "Buy paint" and "Paint the fence"', "a", "r", "we hire somebody"],
  },
  {
    agent,
    title: "Planner: changed before the yes",
    says: "An edit approves exactly these arguments. Where the tool makes something else of them, they are shown again.",
    lines: [
      "Create a plan called Visit Kyoto in spring",
      "e",
      '{"title":"please create a plan to visit Kyoto in autumn"}',
      "a",
    ],
  },
  {
    agent,
    title: "Planner: a question is left open",
    says: "The terminal is closed without an answer. The question stays with the service.",
    lines: ["Delete the plan Buy paint"],
  },
  {
    agent,
    title: "Planner: the service was killed in between",
    says: "After SIGKILL to every process of the service and a new start, the same question is there, and the yes is executed once.",
    goesOn: true,
    killedBefore: true,
    lines: ["a", "List my plans"],
  },
  {
    agent,
    title: "Planner: somebody else's conversation",
    says: "Another user of the same tenant gets the words of a conversation that is not there.",
    user: "mallory",
    goesOn: true,
    lines: ["hello"],
  },
  {
    agent,
    title: "Planner: trouble at the model",
    says: "`[[fault:429]]` makes the scripted model refuse as an overloaded provider would. The run ends with a code; nothing is silently tried again.",
    lines: ["[[fault:429]] List my plans", "List my plans"],
  },
];

export const PLANNER_ZH: readonly Scene[] = [
  {
    agent,
    title: "计划助手：读取无需确认，写入必须确认",
    says: "整句话都交给模型；请人确认的是整理后的标题，显示什么就执行什么。",
    lines: ["你好", "列出我的计划", "请帮我创建一个学大提琴的计划", "a", "列出我的计划"],
  },
  {
    agent,
    title: "计划助手：一次回答里的两个调用，逐个决定",
    says: "两个都有了决定之后才会执行。拒绝的原因会告诉模型。",
    lines: ["创建计划“买油漆”和“刷篱笆”", "a", "r", "我们请人来做"],
  },
  {
    agent,
    title: "计划助手：修改后再批准",
    says: "修改即批准这组参数本身；如果工具对参数做了整理，会重新展示，再次确认。",
    lines: ["创建一个计划，叫做春天去京都", "e", '{"title":"请帮我创建一个秋天去京都的计划"}', "a"],
  },
  {
    agent,
    title: "计划助手：问题留着没有回答",
    says: "没有回答就关掉了终端，问题仍保留在服务里。",
    lines: ["删除计划买油漆"],
  },
  {
    agent,
    title: "计划助手：其间服务被强行终止",
    says: "用 SIGKILL 结束服务的全部进程并重新启动之后，同一个问题还在，批准后只执行一次。",
    goesOn: true,
    killedBefore: true,
    lines: ["a", "列出我的计划"],
  },
  {
    agent,
    title: "计划助手：别人的会话",
    says: "同一租户的另一位用户得到的回答，与会话不存在时完全相同。",
    user: "mallory",
    goesOn: true,
    lines: ["你好"],
  },
  {
    agent,
    title: "计划助手：模型出了问题",
    says: "`[[fault:429]]` 让排练模型像过载的供应商一样拒绝。运行以明确的代码结束，不会悄悄重试。",
    lines: ["[[fault:429]] 列出我的计划", "列出我的计划"],
  },
];
