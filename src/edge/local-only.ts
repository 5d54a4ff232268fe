/**
 * A development configuration serves this machine and nothing else. Its sign-in believes everybody and its key is public,
 * so a deployment that forgot `--env production` must answer nobody instead of answering everybody.
 */
import type { Edge } from "./app.ts";
import { SettingsRefused, type Settings } from "./settings.ts";

/** Names and addresses that no public request can carry: loopback, private ranges, and RFC 2606's reserved names. */
const LOCAL =
  /^(localhost|.+\.(localhost|test|example|invalid)|127(\.\d+){3}|10(\.\d+){3}|192\.168(\.\d+){2}|172\.(1[6-9]|2\d|3[01])(\.\d+){2}|\[::1\])$/;

export const isLocalName = (hostname: string): boolean => LOCAL.test(hostname);

export const PUBLIC_DEVELOPMENT = new SettingsRefused([
  "ENVIRONMENT=development serves this machine only: deploy with --env production",
]);

/** @param refusing answers instead, with the reason in the log and in /healthz */
export function localOnly(edge: Edge, settings: Pick<Settings, "environment">, refusing: Edge): Edge {
  if (settings.environment !== "development") return edge;
  return {
    fetch: (request) => (isLocalName(new URL(request.url).hostname) ? edge : refusing).fetch(request),
  };
}
