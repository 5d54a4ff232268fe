/** A process for one play: the order comes as its argument, what was played goes to its parent. */
import { play, type Order } from "./play.ts";

const played = await play(JSON.parse(process.argv[2] ?? "null") as Order);
process.send?.(played, () => process.exit(0));
