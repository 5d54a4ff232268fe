import { hash } from "node:crypto";

/** base64url, at once: the digests of the simulation settle through the kernel where they are asked for. */
export const sha256 = (text: string): string => hash("sha256", text, "base64url");
