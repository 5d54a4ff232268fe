/**
 * The platform's tracing as the effects' port. Where tracing is off, or the runtime has none, what runs inside runs all
 * the same: a span must not fail what it tells about.
 */

interface PlatformSpan {
  setAttributes(attributes: Record<string, string | number | boolean | undefined>): unknown;
  setStatus(status: { code: "unset" | "ok" | "error"; message?: string }): unknown;
  end(): void;
}
export interface PlatformTracing {
  startActiveSpan<T>(name: string, callback: (span: PlatformSpan) => T): T;
}

export interface TracedSpan {
  set(attributes: Readonly<Record<string, string | number | boolean | undefined>>): void;
  fail(code: string): void;
}

const UNTRACED: TracedSpan = { set: () => undefined, fail: () => undefined };

export function platformSpans(tracing: PlatformTracing | undefined) {
  return {
    within<T>(
      name: string,
      attributes: Readonly<Record<string, string | number | boolean | undefined>>,
      run: (span: TracedSpan) => Promise<T>,
    ): Promise<T> {
      if (typeof tracing?.startActiveSpan !== "function") return run(UNTRACED);
      return tracing.startActiveSpan(name, async (span) => {
        const traced: TracedSpan = {
          set: (more) => quietly(() => span.setAttributes(defined(more))),
          fail: (code) =>
            quietly(() => {
              span.setAttributes({ "error.type": code });
              span.setStatus({ code: "error", message: code });
            }),
        };
        traced.set(attributes);
        try {
          return await run(traced);
        } catch (error) {
          traced.fail(error instanceof Error ? error.name : "thrown");
          throw error;
        } finally {
          quietly(() => span.end());
        }
      });
    },
  };
}

const defined = (attributes: Readonly<Record<string, string | number | boolean | undefined>>) =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));

function quietly(act: () => unknown): void {
  try {
    act();
  } catch {
    // Nobody is left to tell.
  }
}
