/** What a deployment may set about tools and runs; the defaults are those of `protocol/limits.ts`. */
import { DURATIONS, RUN_LIMITS } from "../protocol/limits.ts";
import type { RunLimits } from "../protocol/run.ts";

export interface ToolSettings {
  /** What a run may use where its agent does not say otherwise. */
  readonly limits: RunLimits;
  /** Name of the model where the agent does not choose it. */
  readonly model: string;
  readonly cancelGraceMs: number;
  readonly backoffMs: number;
  readonly confirmationMs: number;
  readonly dedupeWindowMs: number;
  readonly previewMs: number;
  readonly abortSettleMs: number;
}

export const toolSettings = (given: Partial<ToolSettings> & Pick<ToolSettings, "model">): ToolSettings => ({
  limits: RUN_LIMITS,
  cancelGraceMs: DURATIONS.cancelGraceMs,
  backoffMs: DURATIONS.backoffMs,
  confirmationMs: DURATIONS.confirmationMs,
  dedupeWindowMs: DURATIONS.dedupeWindowMs,
  previewMs: DURATIONS.previewMs,
  abortSettleMs: DURATIONS.abortSettleMs,
  ...given,
});
