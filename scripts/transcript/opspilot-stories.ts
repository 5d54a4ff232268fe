/** The operations agent's part of the transcript: lines that a person types, in both languages. Data, no rules. */
import type { Scene } from "./scene.ts";

const agent = "opspilot";

export const OPSPILOT_EN: readonly Scene[] = [
  {
    agent,
    title: "Opspilot: a service fails, a person approves, it recovers",
    says: "Reading logs needs no yes. Restarting does, and so does changing the setting that was the cause; the card shows before → after, as the server worked it out.",
    lines: [
      "hello",
      "How are the services?",
      "Something is wrong with the shop: please fix it",
      "a",
      "a",
      "How are the services?",
    ],
  },
  {
    agent,
    title: "Opspilot: what cannot be is not asked",
    says: "Arguments are checked before anybody is bothered: a refused call goes back to the model with a code.",
    lines: [
      "Set cache_max_mb of checkout to 5000",
      "Open an incident for checkout: out of memory",
      "r",
      "it is mended",
    ],
  },
  {
    agent,
    title: "Opspilot: killed in the middle of an act",
    says: "`restart_service` declares that it must not be sent twice. Here the service and the terminal are ended with SIGKILL while the restart is under way.",
    cutAt: "⚙ restart_service …",
    lines: ["Restart checkout", "a"],
  },
  {
    agent,
    title: "Opspilot: the outcome is unknown, and a person says so",
    says: "After the new start nothing is repeated: the outcome is called unknown, and a person is asked. The answer “no” is a fresh yes to the same act under the same key, and the fleet knows the key: it restarts once.",
    goesOn: true,
    killedBefore: true,
    lines: ["n", "How are the services?"],
  },
];

export const OPSPILOT_ZH: readonly Scene[] = [
  {
    agent,
    title: "运维助手：服务出故障，经人批准后恢复",
    says: "读日志无需确认；重启需要确认，修改引起故障的设置也需要。卡片上的前后变化由服务器算出。",
    lines: ["你好", "各个服务怎么样？", "商店出问题了，请修复", "a", "a", "各个服务怎么样？"],
  },
  {
    agent,
    title: "运维助手：不可能的事不会拿来问人",
    says: "参数先经过检查再去打扰人：被拒绝的调用带着代码退回给模型。",
    lines: ["把 checkout 的 cache_max_mb 设为 5000", "为 checkout 创建一个事件：内存用尽", "r", "已经修好了"],
  },
  {
    agent,
    title: "运维助手：动作进行中被强行终止",
    says: "`restart_service` 声明自己不可重复发送。这里在重启进行中用 SIGKILL 同时结束服务和终端。",
    cutAt: "⚙ restart_service …",
    lines: ["重启 checkout", "a"],
  },
  {
    agent,
    title: "运维助手：结果未知，由人来说",
    says: "重新启动后不会擅自重复：结果如实称为未知，并询问人。回答“没有”等于用同一个键对同一动作重新批准，而服务集群认得这个键：只重启一次。",
    goesOn: true,
    killedBefore: true,
    lines: ["n", "各个服务怎么样？"],
  },
];
