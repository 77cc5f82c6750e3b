/** Drops repetitions as a subscriber should: messages that are not newer than the last one. */
export function withoutRepetitions<Message extends { workspaceSeq: string }>(
  messages: readonly Message[],
): Message[] {
  let last = 0n;
  return messages.filter(({ workspaceSeq }) => {
    const isNew = BigInt(workspaceSeq) > last;
    if (isNew) last = BigInt(workspaceSeq);
    return isNew;
  });
}
