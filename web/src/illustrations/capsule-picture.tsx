import { Picture } from './picture';

/** A capsule between germs. */
export function CapsulePicture() {
  return (
    <Picture>
      <circle cx="60" cy="60" r="57" className="fill-primary-soft" />
      <g transform="rotate(-40 60 60)">
        <path className="fill-henna" d="M60 44H36a16 16 0 0 0 0 32h24z" />
        <path className="fill-white" d="M60 44h24a16 16 0 0 1 0 32H60z" />
        <path className="stroke-sun" strokeWidth="4" strokeLinecap="round" d="M36 52h16" />
      </g>
      <g className="fill-primary stroke-primary" strokeWidth="5" strokeDasharray="2 5.3">
        <circle cx="34" cy="36" r="10" />
        <circle cx="90" cy="84" r="12" />
        <circle cx="44" cy="98" r="7" />
      </g>
    </Picture>
  );
}
