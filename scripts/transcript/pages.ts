/** The pages of the transcript, one a language. */
import { OPSPILOT_EN, OPSPILOT_ZH } from "./opspilot-stories.ts";
import { PLANNER_EN, PLANNER_ZH } from "./planner-stories.ts";
import type { Page } from "./scene.ts";

export const PAGES: readonly Page[] = [
  {
    lang: "en",
    file: "transcript.md",
    heading: "Transcript",
    intro:
      "Both agents at the terminal client, as `npm run transcript` saw them: the lines after a prompt were typed, the rest is the service's. Ids and times are replaced by their kind. The model is the scripted one. [中文](transcript.zh.md)",
    scenes: [...PLANNER_EN, ...OPSPILOT_EN],
  },
  {
    lang: "zh",
    file: "transcript.zh.md",
    heading: "实录",
    intro:
      "两个智能体在终端客户端中的表现，由 `npm run transcript` 自动记录：提示符之后是输入的内容，其余都来自服务。编号和时间已替换为类别名。模型是照剧本回答的排练模型。[English](transcript.md)",
    scenes: [...PLANNER_ZH, ...OPSPILOT_ZH],
  },
];
