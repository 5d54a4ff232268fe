/** Where the conversation is shown: text that streams, and lines that stand. Knows nothing of runs. */
export interface Screen {
  line(text: string): void;
  /** The text of the message in progress so far; only what is new of it is written. */
  stream(messageId: string, text: string): void;
  /** The message is whole: the rest of its text, and a line's end. */
  settle(messageId: string, text: string): void;
}

export function terminalScreen(write: (text: string) => void): Screen {
  let open: { messageId: string; shown: string } | null = null;
  const close = () => {
    if (open) write("\n");
    open = null;
  };
  return {
    line(text) {
      close();
      write(`${text}\n`);
    },
    stream(messageId, text) {
      if (open?.messageId !== messageId || !text.startsWith(open.shown)) {
        close();
        open = { messageId, shown: "" };
      }
      write(text.slice(open.shown.length));
      open.shown = text;
    },
    settle(messageId, text) {
      if (open?.messageId === messageId && text.startsWith(open.shown)) write(text.slice(open.shown.length));
      else {
        close();
        write(text);
      }
      open = null;
      write("\n");
    },
  };
}
