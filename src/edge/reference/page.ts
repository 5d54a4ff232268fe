/**
 * A page of ours: one document, its style and script inside it and allowed by their hashes, nothing from anywhere else.
 * The texts are constants; nothing that a client or a model said is ever part of a page.
 */
import { toBase64 } from "../bytes.ts";

export interface Page {
  readonly title: string;
  readonly style: string;
  readonly script?: string;
  /** HTML. */
  readonly body: string;
}

export interface RenderedPage {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

export async function renderPage({ title, style, script, body }: Page): Promise<RenderedPage> {
  const policy = [
    "default-src 'none'",
    `style-src ${await hashOf(style)}`,
    ...(script === undefined ? [] : [`script-src ${await hashOf(script)}`, "connect-src 'self'"]),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
${body}${script === undefined ? "" : `\n<script>${script}</script>`}
</body>
</html>
`;
  return {
    html,
    headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": policy.join("; ") },
  };
}

const hashOf = async (text: string): Promise<string> => {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `'sha256-${toBase64(new Uint8Array(digest))}'`;
};

export const STYLE = `
:root{color-scheme:light dark;--line:light-dark(#d8dce3,#3a3f4a);--soft:light-dark(#5b6472,#a3abb9);--panel:light-dark(#f5f6f8,#1e222a)}
body{font:16px/1.55 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:2rem 1.25rem 6rem}
h1{font-size:1.7rem;margin:0 0 .25rem}h2{font-size:1.15rem;margin:2.25rem 0 .5rem;text-transform:capitalize}
h3{font-size:.95rem;margin:1rem 0 .25rem}p{margin:.4rem 0}.soft{color:var(--soft)}
code,pre{font:13px/1.5 ui-monospace,monospace}pre{background:var(--panel);padding:.75rem;overflow:auto;border-radius:6px;margin:.4rem 0}
details{border:1px solid var(--line);border-radius:6px;margin:.4rem 0;padding:0 .75rem}
details[open]{padding-bottom:.75rem}summary{cursor:pointer;padding:.5rem 0}
summary:focus-visible,a:focus-visible,input:focus-visible{outline:2px solid Highlight;outline-offset:2px}
.method{display:inline-block;min-width:4.5rem;font:600 12px ui-monospace,monospace}
table{border-collapse:collapse;width:100%;font-size:14px}td,th{border-top:1px solid var(--line);padding:.3rem .5rem .3rem 0;text-align:left;vertical-align:top}
input{font:inherit;width:100%;box-sizing:border-box;padding:.45rem .6rem;border:1px solid var(--line);border-radius:6px;background:transparent;color:inherit;margin-top:1rem}
ul{padding-left:1.2rem}`;
