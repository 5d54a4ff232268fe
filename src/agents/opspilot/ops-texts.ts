/** Opspilot's sentences for people, in English and Chinese. A test holds that both have the same keys. */
import type { Lang } from "../../protocol/texts.ts";
import { FLEET } from "./fleet.ts";
import type { Health } from "./observe.ts";

const EN = {
  health: {
    healthy: "healthy",
    degraded: "degraded",
    failing: "failing",
    restarting: "restarting",
  } satisfies Record<Health, string>,
  severity: { low: "low", high: "high", critical: "critical" },
  service: "Service",
  state: "State",
  running: "Running since",
  interruption: "Interruption",
  reason: "Reason",
  seconds: (n: number) => `up to ${n} seconds`,
  setting: "Setting",
  value: "Value",
  recommended: "Recommended",
  incident: "Incident",
  level: "Severity",
  details: "Details",
  one: (name: string, health: string) => `${name}: ${health}`,
  list: (each: readonly string[]) => (each.length === 0 ? "There are no services." : `${each.join("; ")}.`),
  facts: (name: string, health: string, memory: string, p95: number | null) =>
    `${name} is ${health}: memory ${memory} MB, ${p95 === null ? "no answers" : `p95 ${p95} ms`}.`,
  logs: (name: string, lines: number) => `${lines} ${lines === 1 ? "line" : "lines"} of the logs of ${name}.`,
  restarted: (name: string, health: string) => `Restarted ${name}; it is ${health}.`,
  set: (setting: string, before: string, after: string) => `Set ${setting} from ${before} to ${after}.`,
  opened: (id: string, title: string) => `Opened ${id}: ${title}`,
};
type Texts = typeof EN;

const ZH: Texts = {
  health: { healthy: "正常", degraded: "变慢", failing: "故障", restarting: "正在重启" },
  severity: { low: "低", high: "高", critical: "严重" },
  service: "服务",
  state: "状态",
  running: "运行起始",
  interruption: "中断时间",
  reason: "原因",
  seconds: (n) => `最多 ${n} 秒`,
  setting: "设置",
  value: "值",
  recommended: "建议值",
  incident: "事件",
  level: "级别",
  details: "详情",
  one: (name, health) => `${name}：${health}`,
  list: (each) => (each.length === 0 ? "没有服务。" : `${each.join("；")}。`),
  facts: (name, health, memory, p95) =>
    `${name}${health}：内存 ${memory} MB，${p95 === null ? "没有响应" : `p95 ${p95} 毫秒`}。`,
  logs: (name, lines) => `${name}的日志，共 ${lines} 行。`,
  restarted: (name, health) => `已重启${name}，现在${health}。`,
  set: (setting, before, after) => `已将 ${setting} 从 ${before} 改为 ${after}。`,
  opened: (id, title) => `已创建 ${id}：${title}`,
};

export const OPS_TEXTS: Readonly<Record<Lang, Texts>> = { en: EN, zh: ZH };

/** The service as people call it, and the id in which it is asked for. */
export function nameOf(id: string, lang: Lang): string {
  const title = FLEET.find((spec) => spec.id === id)?.title[lang];
  if (title === undefined) return id;
  return lang === "zh" ? `${title}（${id}）` : `${title} (${id})`;
}

export const withUnit = (value: number, unit: string): string => (unit === "" ? String(value) : `${value} ${unit}`);
