/** The titles of problems by language. English stands in the catalogue; codes and details are the same everywhere. */
import { PROBLEMS, type ProblemCode } from "./problems.ts";
import type { Lang } from "./texts.ts";

const EN = Object.fromEntries(Object.entries(PROBLEMS).map(([code, { title }]) => [code, title])) as Record<
  ProblemCode,
  string
>;

const ZH: Record<ProblemCode, string> = {
  malformed_json: "请求体不是 JSON",
  idempotency_key_missing: "需要 Idempotency-Key",
  audit_reason_missing: "需要说明理由",
  unauthenticated: "请先登录",
  token_expired: "令牌已过期",
  ticket_invalid: "票据无效",
  step_up_required: "此操作需要重新登录",
  forbidden: "不允许",
  scope_missing: "缺少权限范围",
  origin_forbidden: "不允许此来源",
  approval_not_allowed: "你不能决定此调用",
  self_approval_forbidden: "此调用必须由他人决定",
  not_found: "未找到",
  method_not_allowed: "不允许此方法",
  not_acceptable: "没有可接受的表示形式",
  run_active: "另一个运行正在进行",
  run_started: "运行已开始",
  run_finished: "运行已结束",
  not_interrupted: "此调用没有在等待",
  already_decided: "已作出决定",
  confirmation_expired: "确认已过期",
  confirmation_stale: "工具或其策略已变化",
  digest_mismatch: "参数与展示的不一致",
  handed_over: "已由人工接管",
  outcome_unknown: "有调用的结果未知",
  conversation_full: "对话已满",
  idempotency_in_progress: "第一个请求仍在处理",
  gone: "已抹除",
  payload_too_large: "内容过大",
  unsupported_media_type: "不支持的媒体类型",
  invalid_request: "请求无效",
  cursor_invalid: "游标无效",
  idempotency_key_reused: "此 Idempotency-Key 属于另一个请求",
  queue_full: "队列已满",
  rate_limited: "请求过于频繁",
  too_many_sockets: "连接过多",
  tenant_concurrency: "同时进行的运行过多",
  budget_exhausted: "预算已用完",
  internal: "内部错误",
  storage_lost: "存储的数据缺失",
  paused: "已暂停",
  overloaded: "负载过高",
  history_unavailable: "历史记录暂时无法读取",
};

export const PROBLEM_TITLES: Readonly<Record<Lang, Readonly<Record<ProblemCode, string>>>> = { en: EN, zh: ZH };
