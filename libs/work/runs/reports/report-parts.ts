import { asObject, redactSecrets, type SecretValues } from '#lib/secrets';

/** Fields without free text: ids, times and values of closed lists. */
const CLOSED: ReadonlySet<string> = new Set([
  'at',
  'class',
  'deadlineAt',
  'estimatedCompletionAt',
  'level',
  'onDeadline',
  'runId',
]);
/** Fields with a name. Patterns would find secrets in names that are none. */
const NAMES: ReadonlySet<string> = new Set(['event', 'signal']);
/** Fields with a JSON document that is stored without an original. */
const DOCUMENTS: ReadonlySet<string> = new Set(['details']);

/** The parts of a report that can hold a secret. A field that is not listed above is a sentence. */
export function partsOf(report: unknown): { documents: unknown[]; texts: string[] } {
  const documents: unknown[] = [];
  const texts: string[] = [];
  mapParts(report, (part, name) => {
    if (DOCUMENTS.has(name)) documents.push(part);
    else texts.push(part as string);
    return part;
  });
  return { documents, texts };
}

/** A copy of a report without these values. Events contain its texts, so likely secrets go too. */
export function withoutSecrets<Report>(report: Report, values: SecretValues): Report {
  return mapParts(report, (part, name) => {
    if (DOCUMENTS.has(name)) return asObject(redactSecrets(part, values));
    return NAMES.has(name) ? values.hide(part as string) : values.redact(part as string);
  });
}

function mapParts<Value>(
  value: Value,
  map: (part: unknown, name: string) => unknown,
  name = '',
): Value {
  const mapAny = (): unknown => {
    if (value === undefined || value === null || CLOSED.has(name)) return value;
    if (typeof value === 'string' || DOCUMENTS.has(name)) return map(value, name);
    if (Array.isArray(value)) return value.map((item: unknown) => mapParts(item, map, name));
    if (typeof value !== 'object') return value;
    const fields = Object.entries(value as Record<string, unknown>);
    return Object.fromEntries(fields.map(([key, child]) => [key, mapParts(child, map, key)]));
  };
  return mapAny() as Value;
}
