/** The shape of what is played for the transcript. */
export interface Scene {
  readonly agent: string;
  readonly title: string;
  /** What to look for, for the reader. */
  readonly says: string;
  readonly lines: readonly string[];
  readonly user?: string;
  /** In the conversation of the scene before. */
  readonly goesOn?: true;
  /** The whole service is ended with SIGKILL and started again before this scene. */
  readonly killedBefore?: true;
  /** The terminal is ended as soon as it shows this, and with it what the person could have said. */
  readonly cutAt?: string;
}

export interface Page {
  readonly lang: "en" | "zh";
  readonly file: string;
  readonly heading: string;
  readonly intro: string;
  readonly scenes: readonly Scene[];
}
