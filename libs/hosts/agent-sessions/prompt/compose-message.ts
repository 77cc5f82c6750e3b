/** A message of a person to a running agent. */
export interface MessageToAgent {
  /** `message`, or a type that the agent sees. */
  type: string;
  /** Empty in a message of files alone. */
  text: string;
  data?: object | null;
}

/** The words of a message to an agent. A plain message is its text. */
export function composeMessage({ type, text, data }: MessageToAgent): string {
  const words = type === 'message' ? text : `[${type}] ${text}`.trimEnd();
  if (data === undefined || data === null || Object.keys(data).length === 0) return words;
  const json = `\`\`\`json\n${JSON.stringify(data, undefined, 2)}\n\`\`\``;
  return words === '' ? json : `${words}\n\n${json}`;
}
