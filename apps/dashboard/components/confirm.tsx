import type { FormEvent, ReactNode, RefObject } from 'react';
import { Button } from './parts.js';

interface ConfirmProps {
  dialog: RefObject<HTMLDialogElement | null>;
  title: string;
  /** The word on the button that does it. */
  confirm: string;
  onConfirm: (given: FormData) => void;
  children: ReactNode;
}

/** Asks before something is done that cannot be taken back. The browser keeps the focus inside; Escape leaves it. */
export function Confirm({ dialog, title, confirm, onConfirm, children }: ConfirmProps) {
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    onConfirm(new FormData(event.currentTarget));
    dialog.current?.close();
  }
  return (
    <dialog ref={dialog} aria-label={title}>
      <form onSubmit={submit}>
        <h2>{title}</h2>
        {children}
        <div className="actions">
          <Button onClick={() => dialog.current?.close()}>Back</Button>
          <Button type="submit" look="primary">
            {confirm}
          </Button>
        </div>
      </form>
    </dialog>
  );
}
