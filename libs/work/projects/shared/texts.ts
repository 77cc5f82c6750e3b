import { redactText } from '#lib/kernel';

interface Texts {
  name?: string;
  description?: string | null;
}

/** The fields with what looks like a secret hidden in what people wrote: all of the workspace read it. */
export function withoutSecrets<Fields extends Texts>(fields: Fields): Fields {
  const { name, description } = fields;
  return {
    ...fields,
    ...(name === undefined ? {} : { name: redactText(name) }),
    ...(description ? { description: redactText(description) } : {}),
  };
}
