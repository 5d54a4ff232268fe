/** The agent of the incident: two tools, and a person to call when it is stopped. */
import * as z from "zod";
import type { RunLimits } from "../../src/protocol/run.ts";
import { defineAgent, type Agent } from "../../src/tools/agent-definition.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { ok, refused } from "../../src/tools/outcome.ts";
import { nonsense, type Variant } from "./variant.ts";

/** No replacement character, the sign of bytes that were read as what they are not. */
const CLEAN = /^[^�]*$/;

export function incidentAgent({ clean, varies }: Variant, limits: Partial<RunLimits>): Agent {
  let looks = 0;
  const ocr = defineTool({
    name: "ocr",
    title: { en: "Recognise text", zh: "识别文字" },
    description: "Reads the text on the picture.",
    effect: "read",
    input: z.object({ picture: z.string() }),
    output: z.object({ text: clean ? z.string().regex(CLEAN) : z.string() }),
    execute: async () => ok({ text: nonsense(varies ? ++looks : 1) }),
  });
  const format = defineTool({
    name: "format",
    title: { en: "Format", zh: "排版" },
    description: "Makes a table of a text.",
    effect: "read",
    input: z.object({ text: z.string() }),
    output: z.object({ rows: z.array(z.string()) }),
    execute: async ({ text }) =>
      CLEAN.test(text) ? ok({ rows: text.split("\n") }) : refused("damaged_text", "This text is damaged."),
  });
  return defineAgent({
    name: "clerk",
    title: { en: "Clerk", zh: "文员" },
    description: { en: "Lays out what stands on pictures.", zh: "整理图片上的文字。" },
    prompt: () => "You lay out what stands on pictures.",
    tools: [ocr, format],
    limits,
    handoverOnLimit: true,
    deps: () => ({}),
  });
}
