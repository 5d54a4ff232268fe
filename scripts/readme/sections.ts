/** Marked parts of a Markdown text: `<!-- generated: NAME -->` … `<!-- /generated -->`, replaced by what is made of NAME. */
const SECTION = /<!-- generated: ([a-z-]+) -->\n[^]*?<!-- \/generated -->/g;

/** @throws at a name that nobody makes */
export const filled = (text: string, make: (name: string) => string): string =>
  text.replaceAll(SECTION, (_, name: string) => `<!-- generated: ${name} -->\n\n${make(name)}\n\n<!-- /generated -->`);

export const namesIn = (text: string): string[] => [...text.matchAll(SECTION)].map(([, name = ""]) => name);

/** As a reader sees it: how wide a table's columns are drawn says nothing. */
export const unpadded = (text: string): string =>
  text
    .split("\n")
    .map((line) => (line.startsWith("|") ? line.replaceAll(/ +/g, " ").replaceAll(/-{3,}/g, "---") : line))
    .join("\n");
