import { createHash } from "node:crypto";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { emptyActor, emptyHistory, testEdge } from "./support/edge.ts";
import { SmallDocument } from "./support/small-document.ts";

const optional = { history: emptyHistory, agents: async () => [] };
const HTML = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const get = (path: string, headers: Record<string, string> = HTML) =>
  testEdge(emptyActor, optional).call("GET", path, { headers, authorization: null });

async function page(path: string) {
  const answer = await get(path);
  const html = await answer.text();
  const inside = (tag: string) => new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(html)?.[1] ?? "";
  return { answer, html, inside, policy: answer.headers.get("content-security-policy") ?? "" };
}
const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

describe("the root", () => {
  it("is a short page for people, and JSON for everybody else", async () => {
    const { answer, html, policy, inside } = await page("/");
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(html).toContain('href="/docs"');
    expect(html).not.toContain("<script");
    expect(policy).toBe(
      `default-src 'none'; style-src ${hashOf(inside("style"))}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    for (const accept of ["*/*", "application/json", "curl"]) {
      const plain = await get("/", accept === "curl" ? {} : { accept });
      expect(plain.headers.get("content-type")).toBe("application/json");
      expect(await plain.json()).toMatchObject({ name: "Holdpoint", links: { docs: "/docs" } });
    }
  });
});

describe("the reference page", () => {
  it("has nothing from anywhere else, and one script and one style, by their hashes", async () => {
    const { html, policy, inside } = await page("/docs");
    expect(html).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html.match(/<style/g)).toHaveLength(1);
    expect(html).not.toMatch(/\son[a-z]+=|style=|javascript:/);
    expect(policy).toContain(`script-src ${hashOf(inside("script"))}`);
    expect(policy).toContain(`style-src ${hashOf(inside("style"))}`);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
  });

  async function shown(answer?: unknown) {
    const { inside } = await page("/docs");
    const openapi = answer ?? (await (await get("/v1/openapi.json", {})).json());
    const document = new SmallDocument();
    const asked: string[] = [];
    const fetch = async (path: string) => {
      asked.push(path);
      return Response.json(openapi, { status: answer === undefined ? 200 : 503 });
    };
    runInNewContext(inside("script"), { document, fetch });
    const { main, "#status": status, "#find": find } = document.places;
    if (!main || !status || !find) throw new Error("the page lost its places");
    await expect.poll(() => status.textContent).not.toBe("");
    return { main, status, find, asked };
  }

  it("shows every route and every shape of this very service", async () => {
    const { main, status, asked } = await shown();
    expect(asked).toEqual(["/v1/openapi.json"]);
    expect(status.textContent).toBe("Holdpoint 1.0.0");
    const boxes = main.querySelectorAll("details");
    const summaries = boxes.map((box) => box.querySelector("summary")?.textContent ?? "");
    for (const wanted of ["POST/v1/conversations/{id}/runs", "GET/v1/confirmations", "GET/docs", "ToolCall"]) {
      expect(summaries.some((summary) => summary.startsWith(wanted))).toBe(true);
    }
    const resume = boxes.find(({ id }) => id === "postRunsIdResume")?.textContent ?? "";
    expect(resume).toContain("digest_mismatch");
    expect(resume).toContain('"decision": "approve"');
    expect(resume).toContain("Idempotency-Key");
  });

  it("finds what is typed, and hides the rest", async () => {
    const { main, find } = await shown();
    find.listeners["input"]?.({ target: { value: "TICKETS" } });
    const left = main.querySelectorAll("details").filter(({ hidden }) => !hidden);
    expect(left.map(({ id }) => id)).toEqual(["postConversationsIdTickets"]);
  });

  it("says so when there is nothing to show", async () => {
    const { status } = await shown({});
    expect(status.textContent).toBe("The description could not be read: 503");
  });
});
