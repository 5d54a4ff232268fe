import { createHash } from "node:crypto";

/** base64url, at once: the digests of the simulation settle through the kernel where they are asked for. */
export const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url");
