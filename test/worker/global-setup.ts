/**
 * Runs once in Node before the Worker tests, for what workerd cannot host itself.
 *
 * A server started here hands its address on with `project.provide("name", url)`; vitest.config.ts turns it into a
 * binding with `inject("name")`, or a test reads it with vitest's `inject`. Return a function to stop what was started.
 */
import type { TestProject } from "vitest/node";
import { startFakeProvider } from "../support/fake-provider.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Of the fake model provider: what an OpenAI client takes as base URL ends in `/v1`. */
    readonly modelProvider: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const provider = await startFakeProvider({ timeScale: 0.1 });
  project.provide("modelProvider", provider.url);
  return () => provider.close();
}
