import { useRef } from 'react';
import { type DialogProps, Confirm } from './confirm.js';
import { Button } from './parts.js';

interface FormDialogProps extends DialogProps {
  /** The label of the button that opens the dialog. */
  open: string;
  look?: 'primary' | 'danger' | 'quiet';
}

/** A button that opens a dialog with a form. */
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
