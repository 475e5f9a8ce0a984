// All of a block device's properties, in groups.
import type { Device } from '../../api';
import { deviceFacts } from '../../model/host/device-facts';

export function DeviceDetails({ device }: { device: Device }) {
  return (
    <div className="device-details">
      {deviceFacts(device).map(({ title, facts }) => (
        <section key={title} aria-label={`${device.name}: ${title}`}>
          <h3>{title}</h3>
          <dl className="facts">
            {facts.map(({ name, values, isIdentifier }) => (
              <div key={name}>
                <dt>{name}</dt>
                {values.map((value) => (
                  <dd key={value} className={isIdentifier ? 'mono' : undefined}>
                    {value}
                  </dd>
                ))}
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  );
}
