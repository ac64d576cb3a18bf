import { caseName, type IcsrCase } from './case';
import { choice, identifier, list, moment, observed, trueOrUnknown } from './codes';
import { caseId, patient, suspicion } from './patient';
import { sender, sources } from './sources';
import { type Element, el, xmlDocument } from './xml';

const component = (child: Element) => el('component', { typeCode: 'COMP' }, child);

const event = (...children: Element[]) =>
  component(el('observationEvent', { classCode: 'OBS', moodCode: 'EVN' }, ...children));

const characteristic = (code: '1' | '2', displayName: string, value: Element) =>
  el(
    'subjectOf2',
    { typeCode: 'SUBJ' },
    el(
      'investigationCharacteristic',
      { classCode: 'OBS', moodCode: 'EVN' },
      el('code', { code, codeSystem: list(23), displayName }),
      value,
    ),
  );

/** C.1.6.1: the photo is kept by the sender. */
const photo = el(
  'reference',
  { typeCode: 'REFR' },
  el(
    'document',
    { classCode: 'DOC', moodCode: 'EVN' },
    el('code', { code: '1', codeSystem: list(27), displayName: 'documentsHeldBySender' }),
    el('title', {}, 'Photo of the product'),
  ),
);

/** H.4: what has no place of its own. */
const comment = (words: string) =>
  el(
    'component1',
    { typeCode: 'COMP' },
    el(
      'observationEvent',
      { classCode: 'OBS', moodCode: 'EVN' },
      observed('10', 'comment'),
      el('value', { 'xsi:type': 'ED' }, words),
      el(
        'author',
        { typeCode: 'AUT' },
        el(
          'assignedEntity',
          { classCode: 'ASSIGNED' },
          el('code', { code: '1', codeSystem: list(21), displayName: 'sender' }),
        ),
      ),
    ),
  );

function investigation(report: IcsrCase, productId: string) {
  const name = caseName(report);
  return el(
    'investigationEvent',
    { classCode: 'INVSTG', moodCode: 'EVN' },
    caseId(1, name),
    caseId(2, name),
    el('code', { code: 'PAT_ADV_EVNT', codeSystem: '2.16.840.1.113883.5.4' }),
    el('text', {}, report.words),
    el('statusCode', { code: 'active' }),
    el('effectiveTime', {}, el('low', { value: moment(report.created_at) })),
    el('availabilityTime', { value: moment(report.updated_at) }),
    report.photo_url ? photo : undefined,
    component(
      el(
        'adverseEventAssessment',
        { classCode: 'INVSTG', moodCode: 'EVN' },
        patient(report, productId),
        suspicion(productId),
        report.expiry_date ? comment(`Expiry date on the pack: ${report.expiry_date}`) : undefined,
      ),
    ),
    event(
      observed('1', 'additionalDocumentsAvailable'),
      el('value', { 'xsi:type': 'BL', value: Boolean(report.photo_url) }),
    ),
    event(observed('23', 'localCriteriaForExpedited'), trueOrUnknown(false)),
    ...sources(report),
    sender(),
    characteristic('1', 'ICH ReportType', choice('1', 2)), // a spontaneous report
    characteristic('2', 'otherCaseIds', trueOrUnknown(false)),
  );
}

/** The device at one end of a message or of a batch. */
const end = (name: 'sender' | 'receiver', extension: string, number: number) =>
  el(
    name,
    { typeCode: name === 'sender' ? 'SND' : 'RCV' },
    el(
      'device',
      { classCode: 'DEV', determinerCode: 'INSTANCE' },
      el('id', { extension, root: identifier(number) }),
    ),
  );

const interaction = (extension: string) => el('interactionId', { extension, root: '2.16.840.1.113883.1.6' });

interface Envelope {
  receiver: string;
  now: string;
  id: () => string; // a new UUID
}

function message(report: IcsrCase, { receiver, now, id }: Envelope) {
  return el(
    'PORR_IN049016UV',
    {},
    caseId(1, caseName(report)),
    el('creationTime', { value: moment(now) }),
    interaction('PORR_IN049016UV'),
    el('processingCode', { code: 'P' }),
    el('processingModeCode', { code: 'T' }),
    el('acceptAckCode', { code: 'AL' }),
    end('receiver', receiver, 12),
    end('sender', 'DAAWO', 11),
    el(
      'controlActProcess',
      { classCode: 'CACT', moodCode: 'EVN' },
      el('code', { code: 'PORR_TE049016UV', codeSystem: '2.16.840.1.113883.1.18' }),
      el('effectiveTime', { value: moment(now) }),
      el('subject', { typeCode: 'SUBJ' }, investigation(report, id())),
    ),
  );
}

/**
 * Returns reports as one file of individual case safety reports: HL7 v3, ICH E2B(R3). Fields that a
 * report does not have are null flavours.
 */
export function icsrFile(reports: readonly IcsrCase[], envelope: Envelope): string {
  return xmlDocument(
    el(
      'MCCI_IN200100UV01',
      {
        ITSVersion: 'XML_1.0',
        xmlns: 'urn:hl7-org:v3',
        'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
        'xsi:schemaLocation': 'urn:hl7-org:v3 MCCI_IN200100UV01.xsd',
      },
      el('id', { extension: envelope.id(), root: identifier(22) }),
      el('creationTime', { value: moment(envelope.now) }),
      el('responseModeCode', { code: 'D' }),
      interaction('MCCI_IN200100UV01'),
      el('name', { code: '1', codeSystem: list(1) }),
      ...reports.map((report) => message(report, envelope)),
      end('receiver', envelope.receiver, 14),
      end('sender', 'DAAWO', 13),
    ),
  );
}
