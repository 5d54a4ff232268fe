/** What the doctor has to say of one thing. Never a value of a variable, only which one it is. */
import { createHash } from "node:crypto";

export interface Finding {
  readonly about: string;
  /** `none`: there was nothing to look at. */
  readonly state: "ok" | "odd" | "wrong" | "none";
  readonly says: string;
}

export const finding = (about: string, state: Finding["state"], says: string): Finding => ({ about, state, says });

/** The same that a tool's error names, so that people can see which of their keys it is. */
export const fingerprint = (value: string): string =>
  `sha256:${createHash("sha256").update(value).digest("hex").slice(0, 8)}`;
