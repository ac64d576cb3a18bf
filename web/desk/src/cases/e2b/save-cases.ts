import { saveFile } from '@desk/lib/save-file';
import type { IcsrCase } from './case';
import { icsrFile } from './message';

/** Offers reports as a file in the format E2B(R3). receiver is the name of the authority. */
export function saveCases(name: string, reports: readonly IcsrCase[], receiver: string) {
  const envelope = {
    receiver: receiver.trim().toUpperCase() || 'AUTHORITY',
    now: new Date().toISOString(),
    id: () => crypto.randomUUID(),
  };
  saveFile(`${name}.xml`, icsrFile(reports, envelope), 'application/xml');
}
