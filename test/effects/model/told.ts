/** What the model is told of a story, and an answer of it that failed. */
import { stopOf } from "../../../src/protocol/stops.ts";
import { NO_USAGE } from "../../../src/run/state.ts";
import type { Story } from "./story.ts";

export const failed = (text: string) =>
  ({
    kind: "failed",
    stop: stopOf("model_timeout", "late"),
    text: { text },
    finishReason: null,
    usage: NO_USAGE,
  }) as const;

export const contents = (story: Story) => story.messages().map(({ role, content }) => [role, content]);
export const lastResult = (story: Story) =>
  JSON.parse(story.messages().findLast(({ role }) => role === "tool")?.content ?? "null");
