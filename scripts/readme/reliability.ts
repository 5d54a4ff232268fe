/** What the rigs have shown last, row by row, from the reports that they have kept in docs/figures. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Words } from "./features.ts";

const FIGURES = join(import.meta.dirname, "../../docs/figures");

type Report = Readonly<Record<string, unknown>>;

interface Line {
  readonly report: string;
  readonly what: Words;
  readonly shown: (report: Report) => Words | string;
}

const grouped = (n: unknown): string => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
const of = (report: Report, member: string): Report => (report[member] ?? {}) as Report;
const seconds = (ms: unknown): string => (Number(ms) / 1_000).toFixed(1);

const LINES: readonly Line[] = [
  {
    report: "sim",
    what: {
      en: "Random schedules of messages, decisions, failures and deaths on virtual time: laws broken · rarest recovery branch",
      zh: "虚拟时间上的随机日程（消息、决定、故障、死亡）：违反规则 · 最少走到的恢复分支",
    },
    shown: (r) => {
      const rarest = Math.min(...Object.values(of(r, "marks")).map(Number));
      return {
        en: `${grouped(r["schedules"])} schedules, ${grouped(r["events"])} events: ${grouped(r["violations"])} · ${grouped(rarest)} times`,
        zh: `${grouped(r["schedules"])} 个日程、${grouped(r["events"])} 个事件：${grouped(r["violations"])} · ${grouped(rarest)} 次`,
      };
    },
  },
  {
    report: "crash",
    what: {
      en: "The service killed with SIGKILL: at random, at the instants that matter, and again while it comes back",
      zh: "用 SIGKILL 杀死服务：随机时刻、关键时刻，以及正在恢复的时候",
    },
    shown: (r) => ({
      en: `${grouped(r["kills"])} kills (${grouped(r["random"])} + ${grouped(r["triggered"])}, the rest in cascades); ${grouped(r["violations"])} laws broken`,
      zh: `${grouped(r["kills"])} 次（随机 ${grouped(r["random"])}、关键时刻 ${grouped(r["triggered"])}，其余为连续击杀）；违反规则 ${grouped(r["violations"])} 次`,
    }),
  },
  {
    report: "crash",
    what: {
      en: "Acknowledged commands lost · events seen that were not durable · gaps and repeats of watchers",
      zh: "已确认却丢失的命令 · 看到却未落盘的事件 · 观察者的缺漏与重复",
    },
    shown: (r) => ({
      en: `${grouped(r["acknowledgedLost"])} · ${grouped(r["seenNotDurable"])} · ${grouped(r["gapsOrRepeats"])} of ${grouped(r["commands"])} commands, ${grouped(r["events"])} events, ${grouped(r["frames"])} frames`,
      zh: `${grouped(r["acknowledgedLost"])} · ${grouped(r["seenNotDurable"])} · ${grouped(r["gapsOrRepeats"])}（命令 ${grouped(r["commands"])} 条，事件 ${grouped(r["events"])} 个，帧 ${grouped(r["frames"])} 个）`,
    }),
  },
  {
    report: "crash",
    what: {
      en: "Killed between sending an act and recording its answer: proved or called unknown · acts of `once` tools done twice",
      zh: "在发出动作与记下结果之间被杀：得到证明或如实称为未知 · `once` 工具重复执行",
    },
    shown: (r) => ({
      en: `${grouped(r["provedOrUnknown"])} of ${grouped(r["windowKills"])} · ${grouped(r["duplicateEffects"])}`,
      zh: `${grouped(r["windowKills"])} 次中 ${grouped(r["provedOrUnknown"])} 次 · ${grouped(r["duplicateEffects"])}`,
    }),
  },
  {
    report: "crash",
    what: {
      en: "At the end: runs that are stuck · histories in D1 that differ from their log",
      zh: "结束时：卡住的运行 · D1 中与日志不一致的历史",
    },
    shown: (r) => ({
      en: `${grouped(r["stuck"])} · ${grouped(r["historyDiffers"])} of ${grouped(r["conversations"])}`,
      zh: `${grouped(r["stuck"])} · ${grouped(r["conversations"])} 个会话中 ${grouped(r["historyDiffers"])} 个`,
    }),
  },
  {
    report: "crash-points",
    what: {
      en: "In workerd: an object dies at every instant at which it writes or hands over, in every state of a call",
      zh: "在 workerd 中：对象在每个写入或移交的瞬间、调用的每种状态下死亡",
    },
    shown: (r) => ({
      en: `${grouped(r["points"])} instants × ${grouped(r["standings"])} states, ${grouped(r["pairs"])} of them reachable; ${grouped(r["deaths"])} deaths, ${grouped(r["failed"])} failed`,
      zh: `${grouped(r["points"])} 个瞬间 × ${grouped(r["standings"])} 种状态，可达 ${grouped(r["pairs"])} 个；${grouped(r["deaths"])} 次死亡，失败 ${grouped(r["failed"])}`,
    }),
  },
  {
    report: "soak",
    what: {
      en: "Reconnect storms, a faulty provider and a D1 that goes away: gaps · repeats · stuck runs · resume p50 and p99",
      zh: "重连风暴、出错的模型提供方、暂时不可写的 D1：缺漏 · 重复 · 卡住的运行 · 恢复 p50 与 p99",
    },
    shown: (r) => ({
      en: `${grouped(r["watchers"])} watchers × ${grouped(r["reconnects"])} in ${grouped(r["minutes"])} min: ${grouped(r["gaps"])} · ${grouped(r["repeats"])} · ${grouped(r["stuck"])} · ${grouped(r["resumeP50Ms"])} ms, ${grouped(r["resumeP99Ms"])} ms`,
      zh: `${grouped(r["minutes"])} 分钟内 ${grouped(r["watchers"])} 个观察者 × ${grouped(r["reconnects"])} 次：${grouped(r["gaps"])} · ${grouped(r["repeats"])} · ${grouped(r["stuck"])} · ${grouped(r["resumeP50Ms"])} ms，${grouped(r["resumeP99Ms"])} ms`,
    }),
  },
  {
    report: "outage",
    what: {
      en: "D1 takes no writes while people go on: turns and confirmed acts meanwhile · what it lacked arrives by itself",
      zh: "D1 不可写而人们照常使用：期间的轮次与确认的动作 · 缺少的自行补齐",
    },
    shown: (r) => ({
      en: `${grouped(r["seconds"])} s: ${grouped(r["turns"])} and ${grouped(r["confirmed"])} · ${grouped(Number(r["after"]) - Number(r["before"]))} events, the last ${seconds(r["caughtUpMs"])} s after it is back`,
      zh: `${grouped(r["seconds"])} 秒：${grouped(r["turns"])} 与 ${grouped(r["confirmed"])} · ${grouped(Number(r["after"]) - Number(r["before"]))} 个事件，恢复后 ${seconds(r["caughtUpMs"])} 秒补齐`,
    }),
  },
  {
    report: "soak",
    what: {
      en: "Memory: slope of the storms · what watchers that stop reading cost above those that read",
      zh: "内存：风暴期间的斜率 · 停止读取的观察者比正常读取的多占",
    },
    shown: (r) => {
      const slow = of(r, "slowReaders");
      return {
        en: `${String(r["memoryMbPerMinute"])} MB a minute · ${grouped(slow["readers"])} of them: ${String(slow["grownMb"])} MB, ${grouped(slow["resumed"])} came back whole`,
        zh: `每分钟 ${String(r["memoryMbPerMinute"])} MB · ${grouped(slow["readers"])} 个：${String(slow["grownMb"])} MB，${grouped(slow["resumed"])} 个完整恢复`,
      };
    },
  },
  {
    report: "crash",
    what: {
      en: "From a kill to the first event that a watcher sees again: p50 · p95",
      zh: "从被杀到观察者再次看到事件：p50 · p95",
    },
    shown: (r) => `${seconds(r["recoveryP50Ms"])} s · ${seconds(r["recoveryP95Ms"])} s`,
  },
];

export function reliabilityRows(lang: keyof Words): string[][] {
  return LINES.flatMap(({ report, what, shown }) => {
    const file = join(FIGURES, `${report}.json`);
    if (!existsSync(file)) return [];
    const kept = JSON.parse(readFileSync(file, "utf8")) as Report;
    const words = shown(kept);
    const seed = kept["seed"] === undefined ? "" : `, seed ${String(kept["seed"])}`;
    const when = `\`${String(kept["commit"])}\`, ${String(kept["at"]).slice(0, 10)}${seed}`;
    return [[what[lang], typeof words === "string" ? words : words[lang], `\`npm run ${report}\`, ${when}`]];
  });
}
