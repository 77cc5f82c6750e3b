/** A message of a person to a running agent. */
export interface MessageToAgent {
  /** `message`, or a type that the agent sees. */
  type: string;
  text: string;
  data?: object | null;
}

/** The words of a message to an agent. A plain message is its text. */
export function composeMessage({ type, text, data }: MessageToAgent): string {
  const words = type === 'message' ? text : `[${type}] ${text}`;
  if (data === undefined || data === null || Object.keys(data).length === 0) return words;
  return `${words}\n\n\`\`\`json\n${JSON.stringify(data, undefined, 2)}\n\`\`\``;
}
