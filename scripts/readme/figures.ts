/** The figures of the last whole `npm run bench`, for both READMEs: the words are here, the figures are its report's. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import type { Words } from "./features.ts";

const Report = z.object({
  commit: z.string(),
  at: z.string(),
  rows: z.array(
    z.object({
      workload: z.string(),
      metric: z.string(),
      unit: z.string(),
      ours: z.number(),
      floor: z.number().nullable(),
      ratio: z.number().nullable(),
      budget: z.number().nullable(),
      missed: z.boolean(),
    }),
  ),
});
export type Figures = z.infer<typeof Report>;

export const figures = (): Figures =>
  Report.parse(JSON.parse(readFileSync(join(import.meta.dirname, "../../bench/figures.json"), "utf8")));

const ZH: Readonly<Record<string, string>> = {
  "durable acknowledgement of a keyed start": "带键启动的持久确认",
  "the same over HTTP, token checked": "同上，经 HTTP 并校验令牌",
  "CPU of a short turn": "一个短回合的 CPU",
  "the model's first words → client": "模型首批文字 → 客户端",
  "every delta → client, one each 5 ms": "每个增量 → 客户端（每 5 毫秒一个）",
  "2,000 deltas": "2,000 个增量",
  "2,000 deltas, CPU of each": "2,000 个增量，每个的 CPU",
  "2,000 deltas, bytes of each": "2,000 个增量，每个的字节数",
  "20,000 deltas": "20,000 个增量",
  "20,000 deltas, CPU of each": "20,000 个增量，每个的 CPU",
  "20,000 deltas, bytes of each": "20,000 个增量，每个的字节数",
  "50 watchers × 500 deltas, the last to have all": "50 个观察者 × 500 个增量，最后一个收齐",
  "deltas dropped": "丢弃的增量",
  "200 conversations at once, p99": "200 个会话同时进行，p99",
  "200 conversations at once, CPU of the service": "200 个会话同时进行，服务的 CPU",
  "the history's database": "历史数据库的 CPU",
  "memory meanwhile": "期间的内存",
  "turn with 1,000 prior turns, CPU": "之前已有 1,000 个回合，CPU",
  "turn with 1,000 prior turns, model asked": "之前已有 1,000 个回合，到询问模型",
  "catching up after 2,000 deltas": "2,000 个增量后的补发",
  "confirm → tool called": "确认 → 工具被调用",
  "confirm → run ended": "确认 → 运行结束",
  "cancel → provider sees the abort": "取消 → 供应商看到中止",
  "cancel → run ended": "取消 → 运行结束",
  "first message to a restarted actor": "重启后的会话收到第一条消息",
  "rows written, two confirmed calls and 15 s of text": "写入行数：两次确认的调用和 15 秒文字",
  "rows written, short turn": "写入行数：短回合",
  "commits of it": "其中的提交次数",
  "bytes up of a turn, after 1,000 others against 10": "一个回合的上行字节：1,000 个回合后对 10 个后",
  "CPU of a turn, after 1,000 others against 10": "一个回合的 CPU：1,000 个回合后对 10 个后",
  "snapshot, 10,000 events against 7": "快照：10,000 个事件对 7 个",
  "a socket's greeting, 10,000 events against 7": "连接的问候：10,000 个事件对 7 个",
  "list, 100,000 conversations against 100": "列表：100,000 个会话对 100 个",
  "memory of a sleeping socket": "休眠连接的内存",
  "first message to a sleeping object": "休眠对象收到第一条消息",
};

/** Of rows as the READMEs show them. */
export const cellsOf = ({ rows }: Figures, lang: keyof Words): string[][] =>
  rows.map(({ workload, metric, unit, ours, floor, ratio, budget, missed }) => {
    const of = unit === "count" ? "" : ` ${unit}`;
    const bound = budget === null ? "" : `≤ ${budget}${ratio === null ? "" : " ×"}`;
    return [
      workload,
      lang === "zh" ? (ZH[metric] ?? metric) : metric,
      `${ours}${of}`,
      floor === null ? "" : `${floor}${of}`,
      ratio === null ? "" : `${ratio.toFixed(2)} ×`,
      missed ? `**${bound}**` : bound,
    ];
  });
