import type { DroverClient } from '#lib/api-client';

/**
 * Stores files for a task or a message.
 *
 * @returns the id that names them; undefined without files
 */
export async function saveAttachments(
  api: DroverClient,
  files: readonly File[],
): Promise<string | undefined> {
  const chosen = files.filter(({ name }) => name !== '');
  if (chosen.length === 0) return undefined;
  const id = crypto.randomUUID();
  for (const file of chosen) {
    const content = new Uint8Array(await file.arrayBuffer());
    await api.saveAttachment(id, {
      name: file.name,
      content,
      ...(file.type && { type: file.type }),
    });
  }
  return id;
}
