/**
 * Runs once in Node before the Worker tests, for what workerd cannot host itself.
 *
 * A server started here hands its address on with `project.provide("name", url)`; vitest.config.ts turns it into a
 * binding with `inject("name")`, or a test reads it with vitest's `inject`. Return a function to stop what was started.
 */
import type { TestProject } from "vitest/node";
import { startFakeBackend } from "../support/fake-backend.ts";
import { startFakeProvider } from "../support/fake-provider.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Of the fake model provider: what an OpenAI client takes as base URL ends in `/v1`. */
    readonly modelProvider: string;
    /** Of the fake backend that the lab's tools call. It books every request, so a repeated act shows. */
    readonly labBackend: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const provider = await startFakeProvider({ timeScale: 0.1 });
  const backend = await startFakeBackend({ dedup: false });
  project.provide("modelProvider", provider.url);
  project.provide("labBackend", backend.url);
  return async () => {
    await provider.close();
    await backend.close();
  };
}
