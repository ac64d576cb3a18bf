// @vitest-environment jsdom
import { renderDesk } from '@desk/testing';
import { fireEvent, screen } from '@testing-library/react';
import { useState } from 'react';
import { expect, test } from 'vitest';
import { Dialog } from './dialog';

function Asking() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        open
      </button>
      {open && (
        <Dialog title="Sure?" onClose={() => setOpen(false)}>
          <button type="button" onClick={() => setOpen(false)}>
            close
          </button>
        </Dialog>
      )}
    </>
  );
}

test('a button that closes a dialog gives the focus back', () => {
  renderDesk(<Asking />);
  const opener = screen.getByText('open');
  opener.focus();
  fireEvent.click(opener);
  screen.getByText('close').focus();
  fireEvent.click(screen.getByText('close'));
  expect(document.activeElement).toBe(opener);
});
