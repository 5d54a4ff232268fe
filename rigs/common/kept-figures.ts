/** A rig's report in a file, for the page that shows it. */
import { writeFileSync } from "node:fs";

/** @param file undefined: it is only printed */
export const keptIn =
  (file: string | undefined) =>
  (report: object): void => {
    if (file !== undefined) writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  };
