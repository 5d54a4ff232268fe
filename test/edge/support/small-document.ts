/** As much of a browser's document as the reference page uses. What it never gets is a way to set HTML. */
export class SmallNode {
  readonly nodeType = 1;
  readonly tag: string;
  readonly children: SmallNode[] = [];
  readonly listeners: Record<string, (event: unknown) => void> = {};
  className = "";
  id = "";
  hidden = false;
  #text = "";

  constructor(tag: string) {
    this.tag = tag;
  }

  appendChild(child: SmallNode): void {
    if (!(child instanceof SmallNode)) throw new TypeError("not a node");
    this.children.push(child);
  }
  get textContent(): string {
    return this.#text + this.children.map((child) => child.textContent).join("");
  }
  set textContent(text: string) {
    this.#text = String(text);
  }
  set innerHTML(_: string) {
    throw new TypeError("text is set as text");
  }
  addEventListener(type: string, listener: (event: unknown) => void): void {
    this.listeners[type] = listener;
  }
  querySelectorAll(tag: string): SmallNode[] {
    return this.children.flatMap((child) => [...(child.tag === tag ? [child] : []), ...child.querySelectorAll(tag)]);
  }
  querySelector(tag: string): SmallNode | null {
    return this.querySelectorAll(tag)[0] ?? null;
  }
}

export class SmallDocument {
  readonly places: Record<string, SmallNode> = {
    main: new SmallNode("main"),
    "#status": new SmallNode("p"),
    "#find": new SmallNode("input"),
  };
  createElement(tag: string): SmallNode {
    return new SmallNode(tag);
  }
  querySelector(selector: string): SmallNode | null {
    return this.places[selector] ?? null;
  }
}
