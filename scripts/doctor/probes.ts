/** One request to each thing outside that this configuration depends on. Reads only; follows nothing; repeats nothing. */
import { finding, fingerprint, type Finding } from "./finding.ts";
import type { Environment } from "./variables.ts";

const PATIENCE_MS = 10_000;
const OPENAI = "https://api.openai.com/v1";

export async function probes(env: Environment, url?: string): Promise<Finding[]> {
  return Promise.all([
    model(env),
    plans(env),
    keys(env),
    ...(url ? [service(url, "/healthz"), service(url, "/readyz")] : []),
  ]);
}

async function model({
  OPENAI_API_KEY: key,
  OPENAI_BASE_URL: baseUrl,
  OPENAI_MODEL: name,
}: Environment): Promise<Finding> {
  const about = "model gateway";
  if (!key && !baseUrl) return finding(about, "none", "no key and no address: the rehearsal model answers");
  const answer = await get(`${(baseUrl || OPENAI).replace(/\/+$/, "")}/models`, key);
  if ("failed" in answer) return finding(about, "wrong", answer.failed);
  const refused = refusal(answer.status, key);
  if (refused) return finding(about, "wrong", refused);
  if (answer.status === 404 || answer.status === 405) return finding(about, "ok", "answers; it has no list of models");
  if (answer.status !== 200) return finding(about, "wrong", `answers ${answer.status}`);
  const known = ids(answer.body);
  const missing = name && known.length > 0 && !known.includes(name);
  return missing
    ? finding(about, "odd", `answers, and OPENAI_MODEL is none of its ${known.length} models`)
    : finding(about, "ok", `answers, and takes the key (${fingerprint(key ?? "")})`);
}

async function plans({ PLANS_REST_URL: url, PLANS_REST_KEY: key }: Environment): Promise<Finding> {
  const about = "plans gateway";
  if (!url) return finding(about, "none", "not set: plans live in D1");
  const answer = await get(new URL("/v1/rdb/rest/plans?tenant_id=eq.doctor&user_id=eq.doctor&limit=1", url).href, key);
  if ("failed" in answer) return finding(about, "wrong", answer.failed);
  const refused = refusal(answer.status, key);
  if (refused) return finding(about, "wrong", refused);
  if (answer.status !== 200) return finding(about, "wrong", `answers ${answer.status}`);
  return Array.isArray(answer.body)
    ? finding(about, "ok", `answers with rows, and takes the key (${fingerprint(key ?? "")})`)
    : finding(about, "wrong", "answers 200, and not with a list of rows");
}

async function keys({ JWKS_URL: url }: Environment): Promise<Finding> {
  const about = "sign-in keys";
  if (!url) return finding(about, "none", "JWKS_URL is not set");
  const answer = await get(url);
  if ("failed" in answer) return finding(about, "wrong", answer.failed);
  const count =
    answer.status === 200 && isObject(answer.body) && Array.isArray(answer.body["keys"])
      ? answer.body["keys"].length
      : 0;
  return count > 0
    ? finding(about, "ok", `${count} keys`)
    : finding(about, "wrong", `answers ${answer.status}, without keys`);
}

async function service(url: string, path: string): Promise<Finding> {
  const answer = await get(new URL(path, url).href);
  if ("failed" in answer) return finding(path, "wrong", answer.failed);
  return finding(path, answer.status === 200 ? "ok" : "wrong", `answers ${answer.status}`);
}

function refusal(status: number, key: string | undefined): string | null {
  if (status !== 401 && status !== 403) return null;
  return `answers ${status}: it refuses ${key ? `the key ${fingerprint(key)}` : "a request without a key"}`;
}

type Answer = { readonly status: number; readonly body: unknown } | { readonly failed: string };

async function get(url: string, key?: string): Promise<Answer> {
  const headers = key ? { authorization: `Bearer ${key}` } : {};
  try {
    const response = await fetch(url, { headers, redirect: "manual", signal: AbortSignal.timeout(PATIENCE_MS) });
    const text = await response.text();
    return { status: response.status, body: parsed(text) };
  } catch (error) {
    // Its message may quote the address, and an address may hold a password.
    const { name, cause } = error as { name?: string; cause?: { code?: string } };
    return { failed: `no answer (${cause?.code ?? name ?? "unknown"})` };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const ids = (body: unknown): string[] => {
  const rows = isObject(body) && Array.isArray(body["data"]) ? body["data"] : [];
  return rows.flatMap((row) => (isObject(row) && typeof row["id"] === "string" ? [row["id"]] : []));
};
