import { Field } from './parts.js';

interface Named {
  name: string;
  description: string | null;
}

/** The fields of a thing with a name and a description. */
export function NamedFields({ of }: { of?: Named }) {
  return (
    <>
      <Field label="Name">
        <input className="input" name="name" required maxLength={200} defaultValue={of?.name} />
      </Field>
      <Field label="Description">
        <textarea
          className="input"
          name="description"
          rows={3}
          maxLength={10_000}
          defaultValue={of?.description ?? ''}
        />
      </Field>
    </>
  );
}

export function readNamed(form: FormData): Named {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  return { name: text('name'), description: text('description') || null };
}
