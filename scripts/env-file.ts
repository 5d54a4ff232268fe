/**
 * The text of an env file that wrangler reads back to exactly these values.
 *
 * It parses with dotenv and then expands `$NAME`, in single quotes too. Throws on a value that no quote can hold.
 */
export function envFile(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => {
      const quote = ["'", "`"].find((candidate) => !value.includes(candidate));
      if (quote === undefined) throw new Error(`${name} holds both kinds of quote and cannot be passed on`);
      return `${name}=${quote}${value.replaceAll("$", String.raw`\$`)}${quote}\n`;
    })
    .join("");
}
