import { Field } from './parts.js';

interface HookFieldsProps {
  description?: string | null;
  rules: object[];
}

/** The fields of an inbound hook that can change. */
export function HookFields({ description, rules }: HookFieldsProps) {
  return (
    <>
      <Field label="Description">
        <input
          className="input"
          name="description"
          maxLength={1_000}
          defaultValue={description ?? ''}
        />
      </Field>
      <Field
        label="Rules"
        hint="A JSON list. The first rule that matches creates or resumes a task."
      >
        <textarea
          className="input mono"
          name="rules"
          rows={12}
          required
          spellCheck={false}
          defaultValue={JSON.stringify(rules, null, 2)}
        />
      </Field>
    </>
  );
}
