/**
 * What the service promises, row by row, and how far it has come: the feature table of both READMEs. A row *works* only
 * when everything that it names is there and tested; what is missing is said in `gap`. test/docs holds that the tests exist.
 * One table, and so one file, however long: its rows are read together, in their order.
 */
export interface Words {
  readonly en: string;
  readonly zh: string;
}

export interface Feature {
  readonly n: number;
  readonly what: Words;
  readonly status: "works" | "partly" | "next";
  /** What is missing; for rows that do not yet work. */
  readonly gap?: Words;
  /** Files or folders under test/, or the scripts that prove it. */
  readonly tests: readonly string[];
}

export const FEATURES: readonly Feature[] = [
  {
    n: 1,
    what: {
      en: "Conversations and messages are stored, read in pages, continued on another device",
      zh: "会话与消息持久保存，分页读取，换设备可继续",
    },
    status: "works",
    tests: ["test/worker/history.test.ts", "test/edge/runs.test.ts", "test/storage"],
  },
  {
    n: 2,
    what: {
      en: "`RequestContext` is built once, at the edge, and passed down; no credential is stored or logged",
      zh: "`RequestContext` 只在边缘构建一次并逐层传递；凭据不落库、不进日志",
    },
    status: "partly",
    gap: {
      en: "no exchange of the user's credential for a tool's; `traceId` does not reach the model",
      zh: "尚无用户凭据换取；`traceId` 未传给模型",
    },
    tests: ["test/edge/conversations.test.ts", "test/edge/sign-in.test.ts", "test/effects/tools/execution.test.ts"],
  },
  {
    n: 3,
    what: {
      en: "Three layers check authority: edge, runtime scopes, the tool itself; every write is recorded",
      zh: "三层权限检查：边缘、运行时作用域、工具自身；每次写入都有记录",
    },
    status: "works",
    tests: [
      "test/worker/who-may.test.ts",
      "test/actor/rates.test.ts",
      "test/run/calls.test.ts",
      "test/effects/tools/execution.test.ts",
      "scripts/security.ts",
    ],
  },
  {
    n: 4,
    what: {
      en: "A user or tenant id in arguments or in a body is never authority; no verified user: 401",
      zh: "参数或请求体里的用户、租户编号不构成权限；没有通过验证的用户即 401",
    },
    status: "works",
    tests: ["test/edge/sign-in.test.ts", "test/agents/planner.test.ts", "test/worker/cases-inputs.test.ts"],
  },
  {
    n: 5,
    what: {
      en: "Every query carries tenant and user; somebody else's conversation is 404",
      zh: "每个查询都带租户和用户；别人的会话即 404",
    },
    status: "works",
    tests: ["test/edge/object-name.test.ts", "test/history/conversations.test.ts", "test/worker/edge.test.ts"],
  },
  {
    n: 6,
    what: { en: "Sharing by roles: owner, editor, approver, viewer", zh: "按角色共享：所有者、编辑、审批、只读" },
    status: "works",
    tests: [
      "test/protocol/roles.test.ts",
      "test/worker/who-may.test.ts",
      "test/worker/cases-authority.test.ts",
      "test/stream/redaction.test.ts",
    ],
  },
  {
    n: 7,
    what: {
      en: "Administrators across tenants: own endpoints, a reason, an audit record",
      zh: "跨租户管理员：独立端点、须说明原因、留审计记录",
    },
    status: "partly",
    gap: {
      en: "deactivating and pausing only; acts are log entries, not an audit record yet",
      zh: "目前仅停用与暂停；操作写入日志，尚无审计记录",
    },
    tests: ["test/worker/deactivation.test.ts"],
  },
  {
    n: 8,
    what: {
      en: "Searches have tenant, user and visibility inside the match, before ranking",
      zh: "搜索把租户、用户、可见性放进匹配语句，先于排序",
    },
    status: "partly",
    gap: {
      en: "conversation search only; no knowledge search or long-term memory",
      zh: "仅会话搜索；尚无知识检索与长期记忆",
    },
    tests: ["test/history/search.test.ts", "test/history/plans.test.ts"],
  },
  {
    n: 9,
    what: {
      en: "Secrets stay in configuration; none in prompts, messages, events or logs",
      zh: "密钥只在配置中；不进提示词、消息、事件与日志",
    },
    status: "partly",
    gap: { en: "no vault for tenants' own secrets", zh: "尚无租户密钥保险库" },
    tests: ["test/observe/log.test.ts", "test/effects/tools/tool-scrub.test.ts", "test/agents/planner.test.ts"],
  },
  {
    n: 10,
    what: {
      en: "Leaving: data is deleted by a job that can be checked; deactivated users are locked out",
      zh: "离开：由可核查的任务删除数据；停用的用户立即被锁定",
    },
    status: "partly",
    gap: { en: "deactivating works; nothing outside calls erasing yet", zh: "停用已可用；删除尚无外部入口" },
    tests: [
      "test/worker/deactivation.test.ts",
      "test/tenant/sweep.test.ts",
      "test/run/conversation.test.ts",
      "test/history/drain.test.ts",
    ],
  },
  {
    n: 11,
    what: {
      en: "One source of truth for a run's state, the actor; copies say how old they are",
      zh: "运行状态只有一个权威来源：actor；副本标明自己的进度",
    },
    status: "works",
    tests: ["test/run/laws.test.ts", "test/history/project.test.ts", "test/worker/history.test.ts"],
  },
  {
    n: 12,
    what: { en: "One click, one run: idempotency keys per tenant", zh: "一次点击，一次运行：租户级幂等键" },
    status: "works",
    tests: ["test/actor/actor.test.ts", "test/tenant/registry.test.ts", "test/worker/reliability-keys.test.ts"],
  },
  {
    n: 13,
    what: {
      en: "Starting registers durably, then executes in the background",
      zh: "启动先持久登记，再在后台执行",
    },
    status: "works",
    tests: ["test/run/starting.test.ts", "test/worker/reliability-idempotency.test.ts"],
  },
  {
    n: 14,
    what: {
      en: "Runs of a conversation are serialised; the caller chooses `enqueue`, `reject` or `replace`",
      zh: "同一会话的运行串行；繁忙时由调用方选 `enqueue`、`reject` 或 `replace`",
    },
    status: "works",
    tests: ["test/run/starting.test.ts", "test/worker/cases-busy.test.ts"],
  },
  {
    n: 15,
    what: {
      en: "Cancel: stored at once, aborts model and tools, lists what had happened",
      zh: "取消：立即存为意图，中止模型与工具，列出已发生的副作用",
    },
    status: "works",
    tests: ["test/run/cancelling.test.ts", "test/worker/reliability-cancel.test.ts"],
  },
  {
    n: 16,
    what: {
      en: "Time-outs for model, tool, run and confirmation, driven by alarms; no blind retries",
      zh: "模型、工具、运行、确认分层超时，由闹钟驱动；不盲目重试",
    },
    status: "works",
    tests: ["test/run/clocks.test.ts", "test/run/model.test.ts", "test/worker/reliability-deadlines.test.ts"],
  },
  {
    n: 17,
    what: {
      en: "Tool calls have idempotency keys and execution records of their own",
      zh: "工具调用有自己的幂等键与执行记录",
    },
    status: "works",
    tests: ["test/effects/tools/digests.test.ts", "test/run/calls.test.ts", "test/agents/lab.test.ts"],
  },
  {
    n: 18,
    what: {
      en: "After a crash, a redeploy or an eviction a run goes on, or ends with an honest state",
      zh: "崩溃、重新部署、被逐出之后，运行继续，或以如实的状态结束",
    },
    status: "works",
    tests: ["test/run/doubt.test.ts", "test/worker/reliability-recovery.test.ts", "scripts/demo.ts"],
  },
  {
    n: 19,
    what: {
      en: "Reconnect from a cursor without gap or repeat",
      zh: "从游标处重连，不漏不重",
    },
    status: "works",
    tests: ["test/stream/greeting.test.ts", "test/worker/cases-sockets.test.ts", "test/worker/sse.test.ts"],
  },
  {
    n: 20,
    what: {
      en: "Messages (what people read) and events (what happened inside) are apart",
      zh: "消息（给人看的）与事件（内部发生的）分开存放",
    },
    status: "works",
    tests: ["test/storage/journal.test.ts", "test/stream/redaction.test.ts"],
  },
  {
    n: 21,
    what: {
      en: "Propose → store → interrupt → decide → execute; nothing slips past in the same turn",
      zh: "提议 → 存储 → 中断 → 决定 → 执行；同一轮里没有任何东西能溜过去",
    },
    status: "works",
    tests: ["test/run/laws.test.ts", "test/run/confirming.test.ts", "test/worker/cases-confirming.test.ts"],
  },
  {
    n: 22,
    what: {
      en: "`needsConfirmation: true` with the pending calls, whenever something is pending",
      zh: "只要有待定调用，快照就带 `needsConfirmation: true` 和这些调用",
    },
    status: "works",
    tests: ["test/run/laws.test.ts", "test/worker/planner.test.ts", "scripts/demo.ts"],
  },
  {
    n: 23,
    what: {
      en: "Confirmations survive restarts, wait for hours, expire by alarm",
      zh: "确认经得起重启，可等数小时，到期由闹钟处理",
    },
    status: "works",
    tests: ["test/run/closing.test.ts", "test/worker/reliability-lives.test.ts", "scripts/demo.ts"],
  },
  {
    n: 24,
    what: {
      en: "Arguments are normalised before they are shown: what is shown is what runs",
      zh: "参数先整理再展示：显示什么就执行什么",
    },
    status: "works",
    tests: ["test/agents/plan-title.test.ts", "test/effects/tools/preparation.test.ts"],
  },
  {
    n: 25,
    what: {
      en: "A write that did not say it succeeded has failed; “not there yet” and “lost” differ",
      zh: "没有明确说成功的写入就是失败；“尚未写到”与“已丢失”分开",
    },
    status: "works",
    tests: ["test/tools/call-json.test.ts", "test/agents/planner.test.ts", "test/history/conversations.test.ts"],
  },
  {
    n: 26,
    what: {
      en: "Planner and operations agent, end to end; plans in D1 or behind a REST gateway",
      zh: "计划助手与运维助手端到端可用；计划可存 D1 或 REST 网关",
    },
    status: "works",
    tests: ["test/agents", "test/worker/planner.test.ts", "test/worker/opspilot.test.ts", "scripts/transcript.ts"],
  },
  {
    n: 27,
    what: {
      en: "Errors in layers (transport, gateway, tool, event), all from one fact",
      zh: "错误分层（传输、网关、工具、事件），同源于一个事实",
    },
    status: "works",
    tests: ["test/tools/call-json.test.ts", "test/agents/planner.test.ts", "test/protocol/problem-matrix.test.ts"],
  },
  {
    n: 28,
    what: {
      en: 'Tool results are structured: `schemaVersion: 1, kind: "tool_execution_result"`',
      zh: '工具结果为结构化数据：`schemaVersion: 1, kind: "tool_execution_result"`',
    },
    status: "works",
    tests: ["test/history/project.test.ts", "test/effects/tools/execution.test.ts"],
  },
  {
    n: 29,
    what: {
      en: "Model trouble ends the run with a structured, recoverable error; no silent retry",
      zh: "模型故障以结构化、可恢复的错误结束运行；不悄悄重试",
    },
    status: "works",
    tests: [
      "test/effects/stream/classify-failure.test.ts",
      "test/actor/refused-writes.test.ts",
      "test/architecture/model-requests.test.ts",
      "scripts/faults.ts",
    ],
  },
  {
    n: 30,
    what: {
      en: "The model is told a code and a clean sentence; tool output is validated",
      zh: "告诉模型的只有代码和干净的一句话；工具输出要过校验",
    },
    status: "works",
    tests: ["test/effects/tools/tool-output.test.ts", "test/effects/tools/tool-scrub.test.ts"],
  },
  {
    n: 31,
    what: {
      en: "Limits per run, conversation, tool, tenant and service, each trip with its figures",
      zh: "运行、会话、工具、租户、全局各有上限，触发时记录数值",
    },
    status: "partly",
    gap: { en: "a tool has no bound of its own on calls at once", zh: "单个工具的并发数尚不能单独设定" },
    tests: [
      "test/run/limits.test.ts",
      "test/effects/tools/tool-circuits.test.ts",
      "test/tenant/ledger.test.ts",
      "test/worker/budgets.test.ts",
      "scripts/faults.ts",
    ],
  },
  {
    n: 32,
    what: {
      en: "Repeated failure is recognised, also with jittered arguments; a person is asked for",
      zh: "识别重复失败（参数略变也算），结束运行并请求人工",
    },
    status: "works",
    tests: ["test/run/failing.test.ts", "test/worker/cases-limits.test.ts", "test/rigs/incident.test.ts"],
  },
  {
    n: 33,
    what: {
      en: "A person takes over, answers in the conversation, and hands back",
      zh: "人工接管、在同一会话中答复、再交还",
    },
    status: "partly",
    gap: { en: "in the state machine; the routes come next", zh: "状态机已支持，路由待做" },
    tests: ["test/run/handover.test.ts"],
  },
  {
    n: 34,
    what: {
      en: "Pictures are stored once and sent only while they are needed",
      zh: "图片只存一次，仅在需要时发送",
    },
    status: "next",
    tests: [],
  },
  {
    n: 35,
    what: {
      en: "Replay: the timeline of a run, and its first deviation",
      zh: "回放：运行的时间线与第一处偏差",
    },
    status: "next",
    gap: {
      en: "every commit stores its input already, and the laws replay them",
      zh: "每次提交已存下输入，定律测试会重放它们",
    },
    tests: ["test/run/laws.test.ts"],
  },
  {
    n: 36,
    what: { en: "Figures and alarm thresholds for operators", zh: "面向运维人员的指标与告警阈值" },
    status: "works",
    tests: ["test/history/usage.test.ts", "test/edge/usage.test.ts", "test/docs/runbook.test.ts"],
  },
  {
    n: 37,
    what: {
      en: "REST, WebSocket and SSE for messages, runs, resume and cancel",
      zh: "消息、运行、恢复、取消的 REST、WebSocket 与 SSE 接口",
    },
    status: "works",
    tests: ["test/worker/edge.test.ts", "test/worker/cases-sockets.test.ts", "test/worker/sse.test.ts"],
  },
  {
    n: 38,
    what: {
      en: "`wrangler dev` runs everything without a key; the same code deploys",
      zh: "`wrangler dev` 无需密钥即可运行全部功能；同一份代码可部署",
    },
    status: "works",
    tests: ["scripts/demo.ts", "test/worker", "scripts/check.ts"],
  },
  {
    n: 39,
    what: {
      en: "wrangler, hono, openai, zod, vitest and Cloudflare's Vitest plug-in, pinned",
      zh: "wrangler、hono、openai、zod、vitest 与 Cloudflare 的 Vitest 插件，版本固定",
    },
    status: "works",
    tests: ["test/worker/runtime.test.ts", "scripts/check.ts"],
  },
];
