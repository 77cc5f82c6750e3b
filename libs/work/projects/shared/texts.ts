import { redactText } from '#lib/kernel';

interface Texts {
  name?: string;
  description?: string | null;
  instructions?: string | null;
}

/** The fields with apparent secrets hidden, because the whole workspace reads them. */
export function withoutSecrets<Fields extends Texts>(fields: Fields): Fields {
  const { name, description, instructions } = fields;
  return {
    ...fields,
    ...(name === undefined ? {} : { name: redactText(name) }),
    ...(description ? { description: redactText(description) } : {}),
    ...(instructions ? { instructions: redactText(instructions) } : {}),
  };
}
