/**
 * Runs once in Node before the Worker tests, for what workerd cannot host itself.
 *
 * A server started here hands its address on with `project.provide("name", url)`; vitest.config.ts turns it into a
 * binding with `inject("name")`, or a test reads it with vitest's `inject`. Return a function to stop what was started.
 */
import type { TestProject } from "vitest/node";

export default function setup(_project: TestProject): void {}
