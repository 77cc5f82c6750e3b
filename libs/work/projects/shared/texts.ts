import { cut, redactText } from '#lib/kernel';

/** The limits of the columns, in characters. */
const MAX_NAME = 200;
const MAX_INSTRUCTIONS = 20_000;

interface Texts {
  name?: string;
  description?: string | null;
  instructions?: string | null;
}

/**
 * The fields with apparent secrets hidden, because the whole workspace reads them. A hidden secret
 * can be longer, so texts with a limit are cut again.
 */
export function withoutSecrets<Fields extends Texts>(fields: Fields): Fields {
  const { name, description, instructions } = fields;
  return {
    ...fields,
    ...(name === undefined ? {} : { name: cut(redactText(name), MAX_NAME) }),
    ...(description ? { description: redactText(description) } : {}),
    ...(instructions ? { instructions: cut(redactText(instructions), MAX_INSTRUCTIONS) } : {}),
  };
}
