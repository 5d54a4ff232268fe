/**
 * The lab: an agent for rigs, cases and benches, against a backend that misbehaves on request. It exists only where a
 * backend is configured, and never in production. Its conversations choose model, expiry and limits in their metadata,
 * so that tests run side by side on one provider.
 */
import { PartialLimits, type Metadata } from "../../protocol/run.ts";
import { defineAgent } from "../../tools/agent-definition.ts";
import type { LabDeps } from "./lab-backend.ts";
import { alwaysFail, lookupOrder, ping, slowLookup } from "./read-tools.ts";
import { bookNote, transfer, transferByTwo, transferIdempotent, transferProbeable } from "./transfer-tools.ts";

const MAX_TTL_MS = 30 * 24 * 3_600_000;

export const lab = defineAgent<LabDeps>({
  name: "lab",
  title: { en: "Lab", zh: "实验室" },
  description: { en: "For tests: tools of every effect class.", zh: "用于测试：各种效果类别的工具。" },
  prompt: () => "You are a test agent. Use the tools as asked.",
  tools: [
    lookupOrder,
    slowLookup,
    ping,
    alwaysFail,
    transfer,
    transferIdempotent,
    transferProbeable,
    transferByTwo,
    bookNote,
  ],
  model: (metadata) => metadata["model"],
  confirmationTtlMs,
  limitsOf,
  deps: ({ fetch, variable }) => ({ fetch, url: variable("LAB_BACKEND_URL") ?? "" }),
  available: (variable) => Boolean(variable("LAB_BACKEND_URL")) && variable("ENVIRONMENT") !== "production",
});

function confirmationTtlMs(metadata: Metadata): number | undefined {
  const text = metadata["confirmationTtlMs"];
  const ms = Number(text);
  return text !== undefined && Number.isInteger(ms) && ms > 0 && ms <= MAX_TTL_MS ? ms : undefined;
}

/** What is no JSON of limits sets none. */
function limitsOf(metadata: Metadata): PartialLimits {
  try {
    const parsed = PartialLimits.safeParse(JSON.parse(metadata["limits"] ?? "{}"));
    return parsed.success ? parsed.data : {};
  } catch {
    return {};
  }
}
