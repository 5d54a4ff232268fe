/**
 * Our own sentences, by code, in English and Chinese. What is stored is code and parameters; these are rendered from
 * them, `{name}` standing for a parameter. `test/protocol/dictionaries.test.ts` asserts that both languages have the same
 * keys.
 */
export type Lang = "en" | "zh";

/** The language of ours that serves a locale tag best. */
export const langOf = (locale: string | undefined): Lang => (locale?.toLowerCase().startsWith("zh") ? "zh" : "en");

const EN = {
  "call.invalid_arguments": "The arguments were not accepted.",
  "call.unknown_tool": "There is no such tool.",
  "call.scope_missing": "The sign-in does not allow this tool.",
  "call.credential_expired": "The user's credential for this tool has expired.",
  "call.timeout": "No answer came in time.",
  "call.output_invalid": "The tool's answer had an unexpected shape.",
  "call.outcome_unknown": "The outcome is unknown: it may or may not have happened.",
  "call.rejected": "A person rejected this.",
  "call.expired": "Nobody decided in time; nothing was done.",
  "call.cancelled": "Cancelled.",
  "call.changed_since_shown": "The target has changed since it was shown; nothing was done.",
  "call.preview_failed": "What would happen could not be worked out; nothing was done.",
  "call.tool_contract_violated": "The tool did not keep its contract.",
  "call.output_truncated": "The answer was cut before this call was complete; nothing was done.",
  "call.tool_failed": "The tool failed.",
  "call.tool_circuit_open":
    "The tool fails for everybody at the moment and is not called; it may work again in a while.",
  "call.stale": "The tool or its policy has changed since this was proposed; nothing was done.",
  "call.happened": "A person confirmed that it happened.",
  "call.not_found": "There is no such thing, or it is not yours.",
  "call.unknown_setting": "The service has no such setting.",
  "call.value_out_of_range": "The setting does not take this value.",
  "call.PLANS_UNAVAILABLE": "The store of the plans gave no answer.",
  "call.FLEET_UNAVAILABLE": "The store of the services gave no answer.",
  "call.GATEWAY_FORBIDDEN": "The gateway does not allow this.",
  "call.GATEWAY_UNAVAILABLE": "The gateway gave no complete answer.",
  "call.GATEWAY_BAD_RESPONSE": "The gateway's answer was not what was agreed.",
  "notice.tool_circuit_open": "I stopped, because a tool kept failing ({figure} times).",
  "notice.step_limit": "I stopped: this took more steps than I am allowed ({bound}).",
  "notice.token_limit": "I stopped: this took more tokens than I am allowed ({bound}).",
  "notice.deadline_exceeded": "I stopped: this took longer than I am allowed.",
  "notice.budget_exhausted": "I stopped: the budget is used up.",
};
export type TextKey = keyof typeof EN;

const ZH: Record<TextKey, string> = {
  "call.invalid_arguments": "参数未被接受。",
  "call.unknown_tool": "没有这个工具。",
  "call.scope_missing": "当前登录不允许使用这个工具。",
  "call.credential_expired": "用户用于此工具的凭证已过期。",
  "call.timeout": "未在规定时间内收到答复。",
  "call.output_invalid": "工具的答复格式不符。",
  "call.outcome_unknown": "结果未知：可能已经发生，也可能没有。",
  "call.rejected": "已被人工拒绝。",
  "call.expired": "无人按时决定，未执行任何操作。",
  "call.cancelled": "已取消。",
  "call.changed_since_shown": "目标自展示后已变化，未执行任何操作。",
  "call.preview_failed": "无法预览将发生什么，未执行任何操作。",
  "call.tool_contract_violated": "工具未遵守约定。",
  "call.output_truncated": "答复在此调用完整之前被截断，未执行任何操作。",
  "call.tool_failed": "工具执行失败。",
  "call.tool_circuit_open": "这个工具目前对所有人都失败，暂不调用；稍后可能恢复。",
  "call.stale": "工具或其策略自提出后已变化，未执行任何操作。",
  "call.happened": "已由人工确认发生。",
  "call.not_found": "没有这个对象，或者它不属于你。",
  "call.unknown_setting": "这个服务没有这项设置。",
  "call.value_out_of_range": "这项设置不接受这个值。",
  "call.PLANS_UNAVAILABLE": "计划的存储没有答复。",
  "call.FLEET_UNAVAILABLE": "服务的存储没有答复。",
  "call.GATEWAY_FORBIDDEN": "网关不允许此操作。",
  "call.GATEWAY_UNAVAILABLE": "网关没有给出完整的答复。",
  "call.GATEWAY_BAD_RESPONSE": "网关的答复不符合约定。",
  "notice.tool_circuit_open": "某个工具反复失败（{figure} 次），我已停止。",
  "notice.step_limit": "步骤数超出允许范围（{bound}），我已停止。",
  "notice.token_limit": "用量超出允许的令牌数（{bound}），我已停止。",
  "notice.deadline_exceeded": "用时超出允许范围，我已停止。",
  "notice.budget_exhausted": "预算已用完，我已停止。",
};

export const TEXTS: Record<Lang, Record<TextKey, string>> = { en: EN, zh: ZH };

export type TextParams = Readonly<Record<string, string | number>>;

/** The sentence of a code, or the empty string: a code that has no sentence is a bug that the texts' test finds. */
export function textOf(key: string, lang: Lang, params: TextParams = {}): string {
  if (!Object.hasOwn(TEXTS[lang], key)) return "";
  return TEXTS[lang][key as TextKey].replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    Object.hasOwn(params, name) ? String(params[name]) : "?",
  );
}
