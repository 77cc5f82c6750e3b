import { type ReactNode, useRef } from 'react';
import { Confirm } from './confirm.js';
import { Button } from './parts.js';

interface FormDialogProps {
  /** The word on the button that opens it. */
  open: string;
  title: string;
  confirm: string;
  look?: 'primary' | 'danger' | 'quiet';
  onConfirm: (given: FormData) => void;
  children: ReactNode;
}

/** A button with a small form behind it. */
export function FormDialog({ open, look, children, ...rest }: FormDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <Button {...(look && { look })} onClick={() => dialog.current?.showModal()}>
        {open}
      </Button>
      <Confirm dialog={dialog} {...rest}>
        {children}
      </Confirm>
    </>
  );
}
