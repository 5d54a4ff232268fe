/** The generated parts of the READMEs, as Markdown. Pure: what is written where is readme-tables.ts's business. */
import { variableRows } from "../../src/edge/variables.ts";
import { FEATURES, type Feature, type Words } from "./features.ts";
import { cellsOf, figures as lastFigures } from "./figures.ts";
import { BOUNDS } from "./limits.ts";
import { reliabilityRows } from "./reliability.ts";

export type Lang = keyof Words;

const HEADS: Record<
  Lang,
  { features: string[]; figures: string[]; reliability: string[]; limits: string[]; configuration: string[] }
> = {
  en: {
    features: ["#", "what", "status", "tested by"],
    figures: ["", "", "ours", "floor", "ratio", "budget"],
    reliability: ["what was done, and what came of it", "figures", "by"],
    limits: ["what", "bound"],
    configuration: ["variable", "default", "meaning"],
  },
  zh: {
    features: ["#", "内容", "状态", "测试"],
    figures: ["", "", "本服务", "下限", "比值", "预算"],
    reliability: ["做了什么，结果如何", "数字", "来源"],
    limits: ["对象", "上限"],
    configuration: ["变量", "默认值", "含义"],
  },
};
const STATUS: Record<Feature["status"], Words> = {
  works: { en: "works", zh: "可用" },
  partly: { en: "partly", zh: "部分可用" },
  next: { en: "next", zh: "待做" },
};

const cell = (text: string): string => text.replaceAll("|", String.raw`\|`);
const row = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");

function features(lang: Lang): string {
  const gapOf = ({ gap }: Feature) => (gap ? (lang === "zh" ? `（${gap.zh}）` : ` (${gap.en})`) : "");
  const link = (path: string) => `[${path.replace(/^test\//, "")}](${path})`;
  return table(
    HEADS[lang].features,
    FEATURES.map((feature) => [
      String(feature.n),
      `${feature.what[lang]}${gapOf(feature)}`,
      STATUS[feature.status][lang],
      feature.tests.map(link).join(", "),
    ]),
  );
}

const limits = (lang: Lang): string =>
  table(
    HEADS[lang].limits,
    BOUNDS.map(({ what, value }) => [what[lang], typeof value === "string" ? value : value[lang]]),
  );

const configuration = (lang: Lang): string =>
  table(
    HEADS[lang].configuration,
    variableRows().map(({ name, default: unset, doc }) => [`\`${name}\``, unset === "" ? "" : `\`${unset}\``, doc]),
  );

function figures(lang: Lang): string {
  const last = lastFigures();
  const where = `\`${last.commit}\`, ${last.at.slice(0, 10)}`;
  return `${table(HEADS[lang].figures, cellsOf(last, lang))}\n\n${where}`;
}

const reliability = (lang: Lang): string => table(HEADS[lang].reliability, reliabilityRows(lang));

const counts = (lang: Lang): string => {
  const of = (status: Feature["status"]) =>
    `${FEATURES.filter((feature) => feature.status === status).length} ${STATUS[status][lang]}`;
  return `${of("works")} · ${of("partly")} · ${of("next")}`;
};

export const PARTS: Readonly<Record<string, (lang: Lang) => string>> = {
  features,
  counts,
  figures,
  reliability,
  limits,
  configuration,
};
